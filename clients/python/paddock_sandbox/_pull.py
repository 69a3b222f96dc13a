"""Applies the changes of a sandbox to a local directory, without losing local edits.

The sandbox's files are not trusted: nothing is written through a symlink, outside of the directory, or to what git
runs.
"""

from __future__ import annotations

import errno
import io
import os
import tarfile
from typing import Callable, Dict, List, Optional, Sequence, Set

from ._directories import Tree
from ._hunks import Taken
from ._pieces import Pieces
from ._place import Found, Place
from ._plan import APPLIED, CONFLICTS, FAILED, SKIPPED, UNCHANGED, Plan, Step, Wanted, above
from ._pulled import Pulled, PullOptions, answered
from ._refusal import Judge, Refusal
from ._renames import Renames, half_of
from ._room import Room
from ._together import Together
from .errors import InvalidArgumentError, PaddockError
from .messages import ChangeKind, FileChange, FileType

_MEANWHILE = Refusal("the sandbox changed it meanwhile: pull again", True)
_OTHER = Refusal("it is neither a file, a directory nor a symlink")
#: What is here is not what was looked at: others work here, too.
_MOVED = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENOTEMPTY, errno.EEXIST, errno.EISDIR)


class Pull:
    """One pull: `choose`, `take`, `decide`, then `sweep`, `write` what is `needed`, `remove`; at last `close`."""

    def __init__(self, directory: str, paths: Sequence[str], options: PullOptions) -> None:
        if not os.path.isdir(directory):
            raise InvalidArgumentError(f"{directory} is not a directory")
        self._root = directory
        self._tree = Tree(directory)
        self._paths = paths
        self._options = options
        self._most = options.get("max_bytes", 2**30)
        #: Files may have grown since they were listed.
        self._room = Room(self._most)
        self._wanted = Wanted()
        self._renames = Renames()
        self._steps: Dict[str, Step] = {}
        #: Paths whose step was taken.
        self._taken: Set[str] = set()
        self._skipped: Dict[str, Refusal] = {}
        self._failed: Dict[str, OSError] = {}
        #: Changes that are asked for; known after `choose`.
        self.chosen: List[FileChange] = []
        #: Files that it has no room for; known after `take`.
        self.too_large: List[FileChange] = []

    def choose(
        self, listed: Sequence[FileChange], parts: Dict[str, Taken], removals: Sequence[FileChange] = ()
    ) -> Sequence[FileChange]:
        """`parts`: of files of which only some hunks come; `removals`: those of their old paths. Returns all."""
        old, only = {each.path for each in removals}, self._options.get("only")
        own = {*parts, *old}
        listed = [*(each for each in listed if each.path not in old), *removals]
        self.chosen = [each for each in listed if only is None or each.path in own or answered(only, each.path)]
        self._wanted = Wanted(parts=parts, replace=self._options.get("on_conflict") == "replace")
        return listed

    def take(self, listed: Sequence[FileChange]) -> None:
        """Takes what may come. `listed`: all changes of the sandbox."""
        wanted, room = self._wanted, Room(self._most)
        refusals = self._refusals(listed)
        for change in self.chosen:
            path, removed = change.path, change.kind == ChangeKind.DELETED
            if not removed and change.type != FileType.DIRECTORY and change.base_type == FileType.DIRECTORY:
                wanted.replacing.add(path)
            refusal = refusals.get(path) or (_OTHER if change.type == FileType.OTHER and not removed else None)
            if refusal is not None:
                self._skipped[path] = refusal
            elif "\ufffd" in path:
                # Several have this name.
                self._failed[path] = OSError(errno.EILSEQ, "its name is not UTF-8")
            elif removed:
                wanted.removed[path] = change
            elif change.type == FileType.FILE and (refusal := room.take(change.size)):
                self._skipped[path] = refusal
                self.too_large.append(change)
            else:
                wanted.written[path] = change

    def _refusals(self, listed: Sequence[FileChange]) -> Dict[str, Refusal]:
        self._renames = Renames(listed, self._wanted.parts)
        halves = self._renames.halves({each.path for each in self.chosen})
        judge = Judge(self._root, [each for each in self.chosen if each.path not in halves])
        allow = [*self._options.get("allow", ()), *judge.named_in(self._paths)]
        return {**halves, **judge.refusals(self._options.get("git", False), allow)}

    def decide(self) -> Pulled:
        """What is to become of each, by what is here now."""
        plan, wanted = Plan(self._tree, self._wanted, self._steps), self._wanted
        for path, change in sorted(wanted.written.items(), key=lambda each: each[0] in wanted.replacing):
            self._tried(path, change, lambda: plan.write(path, change))
            if self._steps[path].outcome == SKIPPED:
                self._skip(path, _MEANWHILE)
        for path, change in reversed(wanted.removed.items()):
            self._tried(path, change, lambda: plan.remove(path, change))
        self._hold()
        for path, change in reversed(wanted.removed.items()):
            self._tried(path, change, lambda: self._keep_own(path, plan))
        # What is done is done in what is here then.
        self._tree.close()
        return self.result()

    def _hold(self) -> None:
        """Nothing comes without what it comes together with."""
        chosen = {each.path: each for each in self.chosen}
        left = [path for path in chosen if path not in self._steps or not self._steps[path].is_done]
        skipped = set(self._skipped)
        together = Together(chosen, self._renames)
        for path in together.without(left, lambda path: self._is(path, UNCHANGED)):
            if not self._is(path, APPLIED):
                continue
            old = self._renames.leader_of(path)
            # What is left out is no conflict.
            if old is not None and old in skipped:
                self._skip(path, half_of(old))
            else:
                self._steps[path].outcome = CONFLICTS

    def _is(self, path: str, outcome: str) -> bool:
        return path in self._steps and self._steps[path].outcome == outcome

    def _keep_own(self, path: str, plan: Plan) -> None:
        """What is only here keeps its directory, and does not hinder a rename of the others."""
        step = self._steps[path]
        if step.outcome == APPLIED and step.look.found == Found(FileType.DIRECTORY) and not plan.empties(path):
            step.outcome = CONFLICTS

    def needed(self, last: bool) -> Set[str]:
        """Paths whose contents are needed.

        Those that take the place of directories are the last, because what is below them may be renamed to others.
        """
        paths = {path for path, each in self._steps.items() if each.wanted and each.outcome == APPLIED}
        return paths & self._wanted.replacing if last else paths - self._wanted.replacing

    def write(self, paths: Set[str], piece: Callable[[], bytes]) -> None:
        """Writes those of the paths that come in a tar archive. `piece`: its next bytes; empty: the end."""
        missing = set(paths)
        with tarfile.open(fileobj=Pieces(piece), mode="r|") as tar:  # type: ignore[call-overload]
            for member in tar:
                path = member.name.strip("/")
                if path in missing:
                    missing.discard(path)
                    if refusal := self._room.take(member.size):
                        self._skip(path, refusal)
                    else:
                        self._try(path, lambda: self._put(path, tar, member))
        for path in missing:
            self._skip(path, _MEANWHILE)

    def remove(self) -> Pulled:
        """Removes after all contents have come what is left to be removed."""
        self._remove_below("")
        return self.result()

    def _put(self, path: str, tar: tarfile.TarFile, member: tarfile.TarInfo) -> str:
        """Brings a member of the archive to its place, if what is here was not edited since."""
        step = self._steps[path]
        assert step.wanted is not None
        wanted, part = step.wanted, self._wanted.parts.get(path)
        if not self._may_leave(path):
            return CONFLICTS
        with Place.at(self._tree, path) as place:
            # No directories are made for what is a conflict.
            if place is None or not place.is_still(step.look):
                return CONFLICTS

            def is_still() -> bool:
                if step.look.found == Found(FileType.DIRECTORY):
                    self._remove_below(f"{path}/")
                return place.is_still(step.look)

            if wanted.kind == FileType.FILE and member.isfile():
                versions: List[str] = []

                def may_replace(version: str) -> bool:
                    versions.append(version)
                    return version == wanted.version and is_still()

                content = tar.extractfile(member) if part is None else io.BytesIO(part.content)
                assert content is not None
                is_put = place.write(content, wanted.executable, may_replace)
                return APPLIED if is_put else CONFLICTS if versions == [wanted.version] else SKIPPED
            is_link = wanted.kind == FileType.SYMLINK and member.issym() and wanted.version == member.linkname
            if not is_link and not (wanted.kind == FileType.DIRECTORY and member.isdir()):
                return SKIPPED
            if not is_still():
                return CONFLICTS
            if is_link:
                place.link(member.linkname)
            else:
                place.make_directory()
        return APPLIED

    def _remove_below(self, above: str) -> None:
        """From the bottom up. `above`: the directory that is replaced, with a slash, or all that is left."""
        for path in reversed(self._wanted.removed):
            if path.startswith(above) and path not in self._taken and self._steps[path].outcome == APPLIED:
                self._try(path, lambda: self._remove(path, above))

    def _remove(self, path: str, below: str) -> str:
        names = self._renames.new_names_of(path)
        # Without the directory's replacement what is in it stays, as does what did not come to its new path.
        stays = not below and any(each in self._wanted.replacing for each in above(path))
        # The replacement has arrived, and waits for what is removed here.
        if stays or (names and not any(f"{each}/" == below or self._is_taken(each) for each in names)):
            return CONFLICTS
        with Place.at(self._tree, path) as place:
            if place is None or not place.is_still(self._steps[path].look):
                return CONFLICTS
            place.remove()
        return APPLIED

    def _may_leave(self, path: str) -> bool:
        """Whether what has this new path, if it is one, still leaves its old one: not edited here meanwhile."""
        old = self._renames.leader_of(path)
        step = None if old is None else self._steps.get(old)
        # A directory has no contents but what is in it.
        if old is None or step is None or step.change.type == FileType.DIRECTORY or self._is_taken(old):
            return True
        if step.outcome != APPLIED:
            return False
        with Place.at(self._tree, old) as place:
            return place is not None and place.is_still(step.look)

    def _is_taken(self, path: str) -> bool:
        step = self._steps.get(path)
        return step is not None and (step.outcome == UNCHANGED or (step.is_done and path in self._taken))

    def _try(self, path: str, act: Callable[[], str]) -> None:
        def taken() -> None:
            step.outcome = act()
            self._taken.add(path)

        step = self._steps[path]
        self._tried(path, step.change, taken)
        if step.outcome == SKIPPED:
            self._skip(path, _MEANWHILE)

    def _tried(self, path: str, change: FileChange, act: Callable[[], None]) -> None:
        try:
            act()
        except PaddockError:
            # Of the connection that contents come by.
            raise
        except OSError as error:
            outcome = CONFLICTS if error.errno in _MOVED else FAILED
            self._steps[path] = Step(change, outcome=outcome)
            if outcome == FAILED:
                # Not the name of a temporary file.
                self._failed[path] = OSError(error.errno, error.strerror, path)
            self._tree.close()

    def sweep(self) -> None:
        """Removes what killed clients have left beside the changes."""
        for above in {path.rpartition("/")[0] for path in (*self._wanted.written, *self._wanted.removed)}:
            try:
                directory = self._tree.open(above.split("/") if above else [])
                if directory is not None:
                    try:
                        directory.sweep()
                    finally:
                        directory.close()
            except OSError:
                # It is no directory, or not ours to change: what comes there finds out.
                pass
        # What is written from now on goes to what is here then.
        self._tree.close()

    def _skip(self, path: str, refusal: Refusal) -> None:
        self._steps[path].outcome = SKIPPED
        self._skipped[path] = refusal

    @property
    def left(self) -> List[str]:
        """What was skipped, and another pull may bring."""
        return [path for path, each in self._skipped.items() if each.is_left]

    def result(self) -> Pulled:
        def of(outcome: str) -> "tuple[str, ...]":
            return tuple(sorted(path for path, each in self._steps.items() if each.outcome == outcome))

        skipped = {path: each.reason for path, each in sorted(self._skipped.items())}
        return Pulled(of(APPLIED), of(UNCHANGED), of(CONFLICTS), skipped, dict(sorted(self._failed.items())))

    def close(self) -> None:
        self._tree.close()
