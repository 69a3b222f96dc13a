# Generated from _async/download.py by `npm run generate`; do not edit.
"""A file or an archive that is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generator, Mapping

if TYPE_CHECKING:
    from .calls import Calls


class Download:
    """A file or an archive. Nothing is asked for before it is read."""

    def __init__(self, caller: "Calls", operation: str, given: Mapping[str, Any]) -> None:
        self._caller = caller
        self._operation = operation
        self._given = given

    def pieces(self) -> Generator[bytes, None, None]:
        """The content as it arrives."""
        return self._caller._pieces(self._operation, self._given)

    def read(self) -> bytes:
        """The whole content; a cut connection starts again."""
        return self._caller._whole(self._operation, self._given)
