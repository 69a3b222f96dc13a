"""Renamed files: both of their paths come, or none."""

from __future__ import annotations

import json
from typing import Dict, List, Sequence, Set

from ._refusal import Refusal
from .messages import ChangeKind, FileChange


def may_be_half(change: FileChange) -> bool:
    """Whether it is part of a rename, as far as can be told from it alone."""
    return change.kind == ChangeKind.DELETED or bool(change.renamed_from)


def halves_of(listed: Sequence[FileChange], chosen: Set[str]) -> Dict[str, Refusal]:
    """Chosen paths of which the other half of the rename is not chosen: the old one alone would lose the contents here.

    `listed`: the changes of the sandbox, listed after the chosen ones, so that what went is known by its new path.
    """
    renamed: Dict[str, List[str]] = {each.path: [] for each in listed if each.kind == ChangeKind.DELETED}
    for each in listed:
        if each.renamed_from in renamed:
            renamed[each.renamed_from].append(each.path)
    halves: Dict[str, Refusal] = {}
    for old, paths in renamed.items():
        if old not in chosen:
            halves.update((path, _half(old)) for path in paths if path in chosen)
        elif paths and chosen.isdisjoint(paths):
            halves[old] = _half(paths[0])
    return halves


def _half(other: str) -> Refusal:
    return Refusal(f"it is half of a rename: {json.dumps(other, ensure_ascii=False)} must come, too", True)
