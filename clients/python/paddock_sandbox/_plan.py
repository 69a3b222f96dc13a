"""What is to become of each change, by what is in the local directory. Nothing is changed."""

from __future__ import annotations

import dataclasses
from typing import Dict, List, Mapping, Optional, Set, Tuple

from ._directories import Tree
from ._hunks import Taken
from ._paths import folded
from ._place import Found, Look, Place, is_executable
from .messages import ChangeKind, FileChange, FileType

APPLIED, UNCHANGED, CONFLICTS, SKIPPED, FAILED = "applied", "unchanged", "conflicts", "skipped", "failed"


@dataclasses.dataclass
class Step:
    """What is to become of a change. `wanted`: the sandbox's version; None: it has none."""

    change: FileChange
    wanted: Optional[Found] = None
    look: Look = Look()
    outcome: str = APPLIED

    @property
    def is_done(self) -> bool:
        return self.outcome in (APPLIED, UNCHANGED)


@dataclasses.dataclass
class Wanted:
    """What comes: that something else does not, may leave more here."""

    #: By path, in the order of the server: what is in a directory is after it.
    written: Dict[str, FileChange] = dataclasses.field(default_factory=dict)
    removed: Dict[str, FileChange] = dataclasses.field(default_factory=dict)
    #: What takes the place of a directory, whether it may come or not.
    replacing: Set[str] = dataclasses.field(default_factory=set)
    #: What comes of files of which only some hunks do.
    parts: Mapping[str, Taken] = dataclasses.field(default_factory=dict)
    #: Also over what was edited here.
    replace: bool = False


class Plan:
    """Decides each from what is here, and changes nothing. What else comes is not regarded."""

    def __init__(self, tree: Tree, wanted: Wanted, steps: Dict[str, Step]) -> None:
        self._tree = tree
        self._wanted = wanted
        self._steps = steps
        self._folded = {folded(path): path for path in wanted.written}

    def write(self, path: str, change: FileChange) -> None:
        look = self._look(path)
        step = self._steps[path] = Step(change, self._present(change), look or Look())
        if step.wanted is not None and step.wanted.kind == FileType.OTHER:
            step.outcome = SKIPPED
        elif look is None:
            step.outcome = APPLIED if self._becomes_directory(path) else CONFLICTS
        elif _is_same(look.found, step.wanted):
            step.outcome = UNCHANGED
        elif not self._may_replace(step) or (_is_directory(look) and self._has_own(path)):
            step.outcome = CONFLICTS

    def remove(self, path: str, change: FileChange) -> None:
        look = self._look(path)
        step = self._steps[path] = Step(change, None, look or Look())
        replaced = (self._steps.get(each) for each in above(path) if each in self._wanted.replacing)
        if any(each is not None and each.outcome == UNCHANGED for each in replaced):
            step.outcome = UNCHANGED
        elif look is None:
            step.outcome = CONFLICTS
        elif look.found is None:
            step.outcome = UNCHANGED
        elif not self._may_replace(step) or self._has_other_case(path):
            step.outcome = CONFLICTS

    def empties(self, path: str) -> bool:
        """Of a directory that is to go, after what is in it: whether nothing stays there."""
        steps = [self._steps.get(f"{path}/{name}") for name in self._names_in(path)]
        return all(each is not None and each.wanted is None and each.outcome == APPLIED for each in steps)

    def _has_own(self, path: str) -> bool:
        """Whether something is in the directory that is not to go."""
        waiting = [path]
        while waiting:
            at = waiting.pop()
            below = [f"{at}/{name}" for name in self._names_in(at)]
            if any(each not in self._wanted.removed for each in below):
                return True
            waiting += below
        return False

    def _names_in(self, path: str) -> List[str]:
        with Place.at(self._tree, path) as place:
            return [] if place is None or not place.is_directory() else place.names()

    def _has_other_case(self, path: str) -> bool:
        """Whether what comes to a path that is the same in another case has the same file."""
        other = self._folded.get(folded(path))
        identity = None if other is None else self._identity(path)
        return other is not None and identity is not None and identity == self._identity(other)

    def _identity(self, path: str) -> Optional[Tuple[int, int]]:
        with Place.at(self._tree, path) as place:
            return None if place is None else place.identity()

    def _becomes_directory(self, path: str) -> bool:
        """Whether what is on the way and no directory here will be one."""
        steps = [self._steps[each] for each in above(path) if each in self._steps]
        return any(each.wanted == _DIRECTORY and each.outcome == APPLIED for each in steps)

    def _may_replace(self, step: Step) -> bool:
        """What is here otherwise than in the codebase was edited. What is not empty is never removed as a whole."""
        found = step.look.found
        if _is_same(found, _base(step.change)):
            return True
        kind = None if found is None else found.kind
        return self._wanted.replace and kind not in (FileType.DIRECTORY, FileType.OTHER)

    def _look(self, path: str) -> Optional[Look]:
        with Place.at(self._tree, path) as place:
            return None if place is None else place.look()

    def _present(self, change: FileChange) -> Found:
        """The sandbox's version; of a file of which hunks are chosen, what they make of the codebase's."""
        part = self._wanted.parts.get(change.path)
        if part is not None:
            return Found(FileType.FILE, part.version, is_executable(part.mode))
        local = change.local
        return _side(change.type, change.mode, local.sha256 if local else "", local.link_target if local else "")


_DIRECTORY = Found(FileType.DIRECTORY)


def above(path: str) -> List[str]:
    """The directories that a path is in, but for the root."""
    names = path.split("/")
    return ["/".join(names[:count]) for count in range(1, len(names))]


def _base(change: FileChange) -> Optional[Found]:
    """The codebase's version, as far as it is known."""
    if change.kind == ChangeKind.ADDED:
        return None
    kind, local = change.type if change.kind == ChangeKind.DELETED else change.base_type, change.local
    return _side(kind, change.base_mode, local.base_sha256 if local else "", local.base_link_target if local else "")


def _side(kind: FileType, mode: int, version: str, target: str) -> Found:
    """FileType.OTHER equals nothing."""
    if kind == FileType.DIRECTORY:
        return _DIRECTORY
    if kind == FileType.FILE and version:
        return Found(kind, version, is_executable(mode))
    return Found(kind, target) if kind == FileType.SYMLINK and target else Found(FileType.OTHER)


def _is_same(one: Optional[Found], other: Optional[Found]) -> bool:
    return one == other and (one is None or one.kind != FileType.OTHER)


def _is_directory(look: Look) -> bool:
    return look.found == _DIRECTORY
