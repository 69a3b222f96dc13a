"""Parts of modified text files: some of the hunks that a list of changes showed."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from typing import Dict, Iterable, List, Sequence

from .errors import InvalidArgumentError, FailedPreconditionError
from .messages import ChangeKind, ChosenHunks, FileChange, Hunk


def chosen_hunks(change: FileChange, indexes: Sequence[int]) -> ChosenHunks:
    """A choice of hunks, by index from 0, of a change that was listed with `diff`."""
    diff = change.diff
    if diff is None or diff.no_hunks:
        raise InvalidArgumentError(
            f"{change.path} has no hunks: list the changes with diff, or choose its path"
        )
    return ChosenHunks(path=change.path, base_sha256=diff.base_sha256, sha256=diff.sha256, indexes=tuple(indexes))


def check(chosen: Iterable[ChosenHunks], changes: Iterable[FileChange]) -> Dict[str, FileChange]:
    """The changes of these files, by path. Raises if a version is not the one that was looked at."""
    listed = {each.path: each for each in changes}
    found: Dict[str, FileChange] = {}
    for choice in chosen:
        change = listed.get(choice.path)
        diff = change.diff if change is not None else None
        if change is None or diff is None or (diff.sha256, diff.base_sha256) != (choice.sha256, choice.base_sha256):
            raise _changed(choice.path)
        found[choice.path] = change
    return found


def with_hunks(base: bytes, hunks: Sequence[Hunk], indexes: Sequence[int], path: str = "a file") -> bytes:
    """The text with some of its differences, by index."""
    lines = re.findall(rb"[^\n]*\n|[^\n]+$", base)
    parts = []
    at, last = 0, -1
    for index in indexes:
        hunk = hunks[index] if last < index < len(hunks) else None
        last = index
        start = at - 1 if hunk is None else hunk.old_start - 1
        end = start if hunk is None else start + hunk.old_lines
        if hunk is None or start < at or b"".join(lines[start:end]) != hunk.removed.encode():
            raise _changed(path)
        parts += [*lines[at:start], hunk.added.encode()]
        at = end
    return b"".join([*parts, *lines[at:]])


def _changed(path: str) -> FailedPreconditionError:
    return FailedPreconditionError(f"hunks: {path} has other contents by now; list the changes again")


def old_paths(changes: Iterable[FileChange]) -> List[str]:
    """Those of renamed files: to take hunks of one is to take its rename."""
    return [each.renamed_from for each in changes if each.kind == ChangeKind.ADDED and each.renamed_from]


@dataclasses.dataclass(frozen=True)
class Taken:
    """What is taken of a file. The execute bit is none of the hunks."""

    content: bytes
    mode: int

    @property
    def version(self) -> str:
        """SHA-256, as lists of changes have it."""
        return hashlib.sha256(self.content).hexdigest()
