"""What decides here, beside the server, whether a change comes to a local directory.

The threat: programs that are run here find what came: git runs what a repository names, in any
directory that looks like one.
"""

from __future__ import annotations

import os
from typing import Dict, FrozenSet, Iterable, List, Sequence, Set

from .messages import ChangeKind, FileChange

#: Names that together make any directory a repository of git, as a local file system shows them.
_LAYOUTS = (("HEAD", "objects", "refs"), ("HEAD", "commondir"))
_PIECES = {name.lower(): name for layout in _LAYOUTS for name in layout}


class Layout:
    """Keeps directories from becoming repositories, by what is in them here and what came before."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._local: Dict[str, FrozenSet[str]] = {}
        #: Parts of a repository that came, by directory.
        self._came: Dict[str, Set[str]] = {}

    def refusal(self, path: str, is_removed: bool = False) -> str:
        """Why it does not come, or is not removed; empty if it does."""
        names = path.split("/")
        for index, name in enumerate(names):
            # What is in it was decided by that name.
            if name == ".git":
                return ""
            directory = "/".join(names[:index])
            local = self._pieces_in(directory)
            shown = directory or "the directory"
            if _is_repository(local):
                return f"{shown} is a repository of git"
            piece = _PIECES.get(name.lower())
            if is_removed or piece is None:
                continue
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


def is_within(path: str, above: str) -> bool:
    """Whether it is a path, or below it."""
    return path == above or path.startswith(f"{above}/")


def refusal_for(change: FileChange, git: bool, allow: Sequence[str]) -> str:
    """What is left of the server's refusal with what was asked for; empty: it comes."""
    if change.local is None:
        return "the server did not say whether it may come"
    refusal = change.local.refusal
    if refusal is None:
        return ""
    if not git if refusal.git else not refusal.allow:
        return refusal.reason
    if not refusal.allow or any(is_within(change.path, each) for each in allow):
        return ""
    return f"{refusal.reason}: allow={[refusal.allow]!r} brings it"


def named_in(paths: Sequence[str], changes: Iterable[FileChange]) -> List[str]:
    """Chosen paths that are themselves, or are in, what must be allowed by name; not for lost values."""
    refusals = [each.local.refusal for each in changes if each.local is not None and not each.loses_values]
    needed = {each.allow for each in refusals if each is not None and each.allow}
    return [each for each in paths if any(is_within(each, above) for above in needed)]


def is_removed(change: FileChange) -> bool:
    """Whether the sandbox removed it."""
    return change.kind == ChangeKind.DELETED
