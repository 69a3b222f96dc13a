"""The changes of a sandbox object."""

from __future__ import annotations

import os
import tempfile
from typing import List, Optional, Sequence, Union, Unpack

from .._hunks import Taken, check, old_paths, with_hunks
from .._pull import Pull
from .._pulled import PullResult
from .._room import without
from ..errors import ConflictError, InvalidArgumentError
from ..messages import (
    ChangeKind,
    Checkpoint,
    ChosenHunks,
    CommitResponse,
    FileChange,
    RefusedPath,
)
from ..requests import CallOptions, CommitRequest, CreateCheckpointRequest, DiscardRequest, ListChangesRequest
from .concurrency import in_thread
from .download import AsyncDownload
from .state import AsyncState

Paths = Optional[Sequence[str]]


class AsyncChanges(AsyncState):
    """What a sandbox has changed.

    `paths`: only changes at these paths, each with everything below; None: all; an empty list is refused. `exclude`:
    globs, as in rules, of changes to leave out. `include_scratch`: also what was written at scratch paths.
    """

    async def refusals(self, **options: Unpack[CallOptions]) -> List[RefusedPath]:
        """The paths at which the rules refused what commands tried, since the sandbox runs."""
        return [each async for each in self.api.list_refusals(sandbox_id=self.id, **options)]

    async def changes(self, paths: Paths = None, **options: Unpack[ListChangesRequest]) -> List[FileChange]:
        """The paths at which the sandbox differs from its codebase, in byte order.

        `diff`: compare modified and renamed files by lines; `diff` of their changes has the hunks.
        """
        found = self.api.list_changes(sandbox_id=self.id, paths=_checked(paths), **options)
        return [each async for each in found]

    async def patch(self, paths: Paths = None, *, exclude: Paths = None) -> str:
        """The changes as a unified diff for `git apply`. Bytes that are not UTF-8 are kept as surrogates."""
        raw = await self._export("patch", paths, exclude).read()
        return raw.decode("utf-8", "surrogateescape")

    def _export(self, format: str, paths: Paths, exclude: Paths) -> AsyncDownload:
        return self.api.export_changes(sandbox_id=self.id, format=format, paths=_checked(paths), exclude=exclude)

    async def commit(self, paths: Paths = None, **options: Unpack[CommitRequest]) -> CommitResponse:
        """Moves changes into the codebase, all or nothing.

        `ConflictError` with the paths if the codebase has changed there since, unless `on_conflict` is "ours" (the
        sandbox's version) or "theirs" (the codebase's). `hunks`: modified or renamed files of which only some hunks are
        taken, made by `chosen_hunks`; without `paths` nothing else is. The codebase that `create` made is then no
        longer deleted with the sandbox.
        """
        chosen = _checked(paths)
        if not options.get("dry_run"):
            # Before the call: its answer may be lost.
            self._owns_codebase = False
            self._unpulled = ()
        return await self.api.commit(sandbox_id=self.id, paths=chosen, **options)

    async def discard(self, paths: Paths = None, **options: Unpack[DiscardRequest]) -> int:
        """Drops changes, all or nothing: the paths show the codebase's version again. Returns how many."""
        chosen = _checked(paths)
        self._unpulled = ()
        return (await self.api.discard(sandbox_id=self.id, paths=chosen, **options)).discarded

    async def checkpoint(self, name: str, **options: Unpack[CreateCheckpointRequest]) -> Checkpoint:
        """Saves the present files under a name."""
        return await self.api.create_checkpoint(sandbox_id=self.id, name=name, **options)

    async def checkpoints(self, **options: Unpack[CallOptions]) -> List[Checkpoint]:
        """The checkpoints, oldest first."""
        return [each async for each in self.api.list_checkpoints(sandbox_id=self.id, **options)]

    async def delete_checkpoint(self, name: str, **options: Unpack[CallOptions]) -> None:
        """Deletes one checkpoint."""
        await self.api.delete_checkpoint(sandbox_id=self.id, name=name, **options)

    async def rollback(self, checkpoint: str, **options: Unpack[CallOptions]) -> None:
        """Returns the files to a checkpoint. Sessions end. The checkpoint is kept."""
        self.info = await self.api.rollback(sandbox_id=self.id, checkpoint=checkpoint, **options)

    async def pull(
        self,
        directory: Union[str, "os.PathLike[str]"],
        paths: Paths = None,
        *,
        exclude: Paths = None,
        on_conflict: str = "keep",
        git: bool = False,
        allow: Sequence[str] = (),
        hunks: Sequence[ChosenHunks] = (),
        max_bytes: int = 2**30,
    ) -> PullResult:
        """Applies the changes to a local directory: usually the one that it was made from.

        A local file is replaced or removed only if its content is that of the codebase: otherwise somebody has edited
        it meanwhile, or has removed it. `on_conflict`: "keep": leave such files and name them in the result; "raise":
        `ConflictError`, and nothing is written. Each file is replaced in one step. Never written: anything through a
        symlink, a symlink that may lead out of the directory, repositories (with `git` those parts of .git that
        git does not run), and what would make a directory one. What tools run on sight, like .envrc or .vscode,
        is written if `paths` or `allow` names it, or a directory above it; a change that loses values of which the
        sandbox saw placeholders only, if `allow` does. Of modes only the execute bit is taken.
        `hunks`: modified or renamed files of which only some hunks come, from `chosen_hunks`; without `paths` alone.
        `max_bytes`: of contents that may come; a file that does not fit, in the order of paths, is left out.

        Changes stay in the sandbox; pull before a commit, which makes the codebase the sandbox's version. As a context
        manager the sandbox is kept if the last pull left conflicts, or files that did not fit: they are nowhere else.
        """
        if on_conflict not in ("keep", "raise"):
            raise InvalidArgumentError('on_conflict must be "keep" or "raise"')
        if hunks:
            paths = [*(paths or ()), *(each.path for each in hunks)]
        pull = Pull(os.fspath(directory), git, allow, paths or (), max_bytes)
        removals = await self._take_parts(pull, hunks)
        found = await self.changes(paths, exclude=exclude, local=True)
        listed = {each.path for each in found}
        found += [each for each in removals if each.path not in listed]
        await in_thread(pull.look, found)
        if pull.too_large:
            exclude = [*(exclude or ()), *without(pull.too_large)]
        with tempfile.TemporaryFile() as archive:
            async for piece in self._export("tar", paths, exclude).pieces():
                archive.write(piece)
                # Each member has a header, and its name may take some blocks.
                if archive.tell() > max_bytes + 2**14 * (len(found) + 1):
                    raise InvalidArgumentError(
                        f"the changes have more than {max_bytes} bytes: raise max_bytes, or name paths"
                    )
            # Without writing first. The second result has other conflicts only if somebody edits files meanwhile.
            for dry in (True, False) if on_conflict == "raise" else (False,):
                result = await in_thread(pull.apply, archive, dry)
                self._unpulled = (*result.conflicts, *(each.path for each in pull.too_large))
                if on_conflict == "raise" and result.conflicts:
                    error = ConflictError(f"edited locally since the upload: {', '.join(result.conflicts[:10])}")
                    error.paths = result.conflicts
                    raise error
            return result

    async def _take_parts(self, pull: Pull, hunks: Sequence[ChosenHunks]) -> List[FileChange]:
        """Gives it what is taken of files with hunks; returns the removals of the old paths of renamed ones."""
        if not hunks:
            return []
        listed = await self.changes([each.path for each in hunks], diff=True)
        checked = check(hunks, listed)
        for choice in hunks:
            change = checked[choice.path]
            assert change.diff is not None
            path = (old_paths([change]) or [choice.path])[0]
            base = await self.api.download_file(codebase_id=self.codebase_id, file_path=path).read()
            content = with_hunks(base, change.diff.hunks, choice.indexes, choice.path)
            pull.parts[choice.path] = Taken(content, change.diff.base_mode)
        old = old_paths(checked.values())
        removals = await self.changes(old, local=True) if old else []
        return [each for each in removals if each.kind == ChangeKind.DELETED and each.path in old]


def _checked(paths: Paths) -> Paths:
    """The service takes no path for all of them."""
    if isinstance(paths, str) or paths is not None and not paths:
        raise InvalidArgumentError("paths must be a list with at least one path; None stands for all")
    return paths
