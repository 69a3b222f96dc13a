"""A file or an archive that is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncGenerator, Mapping

if TYPE_CHECKING:
    from .calls import AsyncCalls


class AsyncDownload:
    """A file or an archive. Nothing is asked for before it is read."""

    def __init__(self, caller: "AsyncCalls", operation: str, given: Mapping[str, Any]) -> None:
        self._caller = caller
        self._operation = operation
        self._given = given

    def pieces(self) -> AsyncGenerator[bytes, None]:
        """The content as it arrives."""
        return self._caller._pieces(self._operation, self._given)

    async def read(self) -> bytes:
        """The whole content; a cut connection starts again."""
        return await self._caller._whole(self._operation, self._given)
