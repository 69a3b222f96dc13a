"""Renamed files: both of their paths come, or none."""

from __future__ import annotations

import json
from typing import Container, Dict, List, Optional, Sequence, Set

from ._refusal import Refusal
from .messages import ChangeKind, FileChange, FileType


def may_be_moved(change: FileChange) -> bool:
    """Whether what it had in the codebase may have another name, as far as can be told from it alone."""
    return _has_left(change) or (change.kind == ChangeKind.MODIFIED and change.base_type != FileType.DIRECTORY)


def _has_left(change: FileChange) -> bool:
    """Whether it is part of a rename: another may have taken its name."""
    return change.kind == ChangeKind.DELETED or bool(change.renamed_from)


class Renames:
    """The names that the sandbox gave to what has another one in the codebase, and left that, or rewrote it."""

    def __init__(self, listed: Sequence[FileChange] = (), parts: Container[str] = ()) -> None:
        """`listed`: the changes of the sandbox, or those among them that matter. `parts`: only some hunks come."""
        #: Modified files with hunks: they keep what they have, and do not get all that was renamed to them.
        self._parts = {each.path for each in listed if each.kind == ChangeKind.MODIFIED and each.path in parts}
        moved = [each for each in listed if may_be_moved(each) and each.path not in self._parts]
        #: Old paths that come only with a new one, but not the other way round.
        self._rewritten = {each.path for each in moved if not _has_left(each)}
        self._new: Dict[str, List[str]] = {each.path: [] for each in moved}
        self._old: Dict[str, str] = {}
        for each in listed:
            if each.renamed_from in self._new:
                self._new[each.renamed_from].append(each.path)
                if each.path not in self._parts:
                    self._old[each.path] = each.renamed_from

    def new_names_of(self, path: str) -> Sequence[str]:
        """Several, if it had hard links."""
        return [each for each in self._new.get(path, ()) if each not in self._parts]

    def followers_of(self, path: str) -> Sequence[str]:
        """Those that come only if the path does."""
        return () if path in self._rewritten else self.new_names_of(path)

    def old_name_of(self, path: str) -> Optional[str]:
        return self._old.get(path)

    def leader_of(self, path: str) -> Optional[str]:
        """The old path without which it does not come."""
        old = self._old.get(path)
        return None if old in self._rewritten else old

    def halves(self, chosen: Set[str]) -> Dict[str, Refusal]:
        """Chosen paths of which the other half is not chosen: the old one alone would lose the contents here."""
        halves: Dict[str, Refusal] = {}
        for old, paths in self._new.items():
            coming = [path for path in self.new_names_of(old) if path in chosen]
            if old not in chosen:
                halves.update((path, half_of(old)) for path in coming if old not in self._rewritten)
            elif paths and not coming:
                halves[old] = half_of(paths[0])
        return halves


def half_of(other: str) -> Refusal:
    """Why a path does not come without another one."""
    return Refusal(f"it is half of a rename: {json.dumps(other, ensure_ascii=False)} must come, too", True)
