"""The bytes that a pull may bring."""

from __future__ import annotations

import os
import re
from typing import List, Optional, Sequence

from ._refusal import Refusal
from .messages import FileChange

#: Patterns, and bytes of them, by which an export leaves files out; the server takes as many again.
_MOST = 500
_MOST_BYTES = 32 * 1024


class Room:
    """Files take the bytes in order, and one that does not fit is left out."""

    def __init__(self, size: int) -> None:
        self._all = self._left = size

    def take(self, size: int) -> Optional[Refusal]:
        """Takes the bytes of a file, or says why it does not come."""
        if size <= self._left:
            self._left -= size
            return None
        left = "" if self._left == self._all else f", of which {self._left} are left"
        most = f"all that comes may have {self._all}{left}"
        return Refusal(f"it has {size} bytes, and {most}: a larger max_bytes brings it", True)


def without(files: Sequence[FileChange]) -> List[str]:
    """Globs for these files and nothing else, the largest first, as many as a request has room for."""
    size = 0
    globs: List[str] = []
    for change in sorted(files, key=lambda each: -each.size)[:_MOST]:
        glob = re.sub(r"[*?[\]{}\\]", r"\\\g<0>", change.path)
        size += len(os.fsencode(glob))
        if size > _MOST_BYTES:
            break
        globs.append(glob)
    return globs
