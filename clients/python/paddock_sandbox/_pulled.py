"""The outcome of a pull."""

from __future__ import annotations

import dataclasses
from typing import List, Mapping, Set, Tuple


@dataclasses.dataclass(frozen=True)
class PullResult:
    """What a pull did.

    Attributes:
        applied: Paths that are now as in the sandbox.
        unchanged: Paths that were so already.
        conflicts: Paths whose local version is not the one that the sandbox started from. They were left as they are.
        skipped: Reasons by path of what is not written: repositories like .git, what would make a directory one, what
            tools run on sight, symlinks that lead out of the directory, what would lose values that the sandbox saw as
            placeholders, files that `max_bytes` has no room for.
    """

    applied: Tuple[str, ...] = ()
    unchanged: Tuple[str, ...] = ()
    conflicts: Tuple[str, ...] = ()
    skipped: Mapping[str, str] = dataclasses.field(default_factory=dict)


class Done:
    """What a pull has done so far."""

    def __init__(self, skipped: Mapping[str, str]) -> None:
        self.applied: List[str] = []
        self.unchanged: List[str] = []
        self.conflicts: List[str] = []
        self.skipped = dict(skipped)
        #: What is gone, and the directories that were made: in a dry run they are not, and yet count.
        self.removed: Set[str] = set()
        #: Those that are as in the sandbox, and removals that were decided.
        self.placed: Set[str] = set()
        self.decided: Set[str] = set()
        self.directories: Set[str] = set()

    def remove(self, path: str) -> None:
        self.applied.append(path)
        self.removed.add(path)

    def same(self, path: str) -> None:
        self.unchanged.append(path)
        self.placed.add(path)

    def place(self, path: str, is_directory: bool = False) -> None:
        self.applied.append(path)
        self.placed.add(path)
        if is_directory:
            self.directories.add(path)

    def result(self) -> PullResult:
        return PullResult(
            tuple(sorted(self.applied)),
            tuple(sorted(self.unchanged)),
            tuple(sorted(self.conflicts)),
            self.skipped,
        )
