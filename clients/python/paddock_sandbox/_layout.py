"""Keeps directories from becoming repositories, by what is in them here and what came before.

The server does not know it. The threat: git runs what a repository names, in any directory that looks like one.
"""

from __future__ import annotations

import json
import os
from typing import Dict, FrozenSet, Iterable, Set, Tuple

#: Names that together make any directory a repository of git, as a local file system shows them.
_LAYOUTS = (("HEAD", "objects", "refs"), ("HEAD", "commondir"))
_PIECES = {name.lower(): name for layout in _LAYOUTS for name in layout}


class Layout:
    """What came to one local directory."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._local: Dict[str, FrozenSet[str]] = {}
        #: Parts of a repository that came, by directory.
        self._came: Dict[str, Set[str]] = {}
        #: Reasons by path: of what comes, and of what is removed.
        self._decided: Tuple[Dict[str, str], Dict[str, str]] = ({}, {})

    def refusal(self, path: str, is_removed: bool = False) -> str:
        """Why it does not come, or is not removed; empty if it does."""
        names, decided = path.split("/"), self._decided[is_removed]
        if ".git" in names:
            # What is in it was decided by that name.
            names = names[: names.index(".git")]
        known = next((count for count in range(len(names), 0, -1) if "/".join(names[:count]) in decided), 0)
        reason = decided.get("/".join(names[:known]), "")
        for at in range(known, len(names)):
            if not reason:
                reason = self._decide("/".join(names[:at]), names[at], is_removed)
                decided["/".join(names[: at + 1])] = reason
        return reason

    def _decide(self, directory: str, name: str, is_removed: bool) -> str:
        """`directory`: none above it is a repository."""
        local = self._pieces_in(directory)
        shown = json.dumps(directory, ensure_ascii=False) if directory else "the directory"
        if _is_repository(local):
            return f"{shown} is a repository of git"
        piece = _PIECES.get(name.lower())
        if is_removed or piece is None:
            return ""
        came = self._came.setdefault(directory, set())
        if _is_repository({*local, *came, piece}):
            return f"{shown} would become a repository of git"
        came.add(piece)
        return ""

    def _pieces_in(self, directory: str) -> FrozenSet[str]:
        found = self._local.get(directory)
        if found is None:
            full = os.path.join(self._root, directory)
            found = frozenset(each for each in _PIECES.values() if os.path.lexists(os.path.join(full, each)))
            self._local[directory] = found
        return found


def _is_repository(pieces: Iterable[str]) -> bool:
    return any(set(layout).issubset(pieces) for layout in _LAYOUTS)
