"""A file that comes in pieces."""

from __future__ import annotations

from typing import Callable


class Pieces:
    """As much of a file as `tarfile` needs of a stream."""

    def __init__(self, piece: Callable[[], bytes]) -> None:
        self._piece = piece

    def read(self, _: int) -> bytes:
        return self._piece()
