"""Files, rules and changes of a sandbox object."""

from __future__ import annotations

import os
import tempfile
from typing import Any, List, Optional, Sequence, Union

from .._hunks import Taken, check, old_paths, with_hunks
from .._pull import Pull, PullResult
from .._room import without
from ..errors import ConflictError, InvalidArgumentError
from ..messages import (
    ChangeKind,
    Checkpoint,
    ChosenHunks,
    CommitResponse,
    FileChange,
    FileType,
    PermissionExplanation,
    PermissionRule,
    RefusedPath,
)
from ..presets import Rule, ShortRules
from .changes import Paths
from .files import AsyncFiles
from .running import AsyncRunMethods
from .concurrency import in_thread


class AsyncReviewMethods(AsyncRunMethods):
    """Files, rules and changes."""

    @property
    def files(self) -> AsyncFiles:
        """The files of the workspace, with the rules of the sandbox."""
        return AsyncFiles(self._client, self.id)

    async def read_file(self, path: str) -> str:
        """A file of the workspace as text (UTF-8), without the rules; `files` has them."""
        return (await self.read_file_bytes(path)).decode("utf-8")

    async def read_file_bytes(self, path: str) -> bytes:
        """A file of the workspace, without the rules."""
        return await self.files.as_owner().read(path)

    async def write_file(self, path: str, content: Union[str, bytes]) -> None:
        """Creates or replaces a file of the workspace, without the rules. It is a change of the sandbox."""
        await self.files.as_owner().write(path, content)

    async def list_files(self, path: str = "", recursive: bool = False) -> List[str]:
        """The paths of files below a directory of the workspace, without the rules and without directories."""
        found = await self.files.as_owner().list(path, recursive=recursive)
        return [each.path for each in found if each.type != FileType.DIRECTORY]

    @property
    def rules(self) -> Sequence[PermissionRule]:
        """The rules in force when the service was last asked."""
        return self._info.permissions

    async def set_rules(
        self,
        permissions: Optional[Sequence[Rule]] = None,
        *,
        preset: Optional[str] = None,
        rules: Optional[ShortRules] = None,
    ) -> None:
        """Replaces the rules. When this returns every operation obeys the new ones, also those on open files."""
        self._info = await self._client.update_permissions(self.id, permissions, preset=preset, rules=rules)

    async def explain(self, path: str) -> PermissionExplanation:
        """The permission of a path, which need not exist, and why."""
        return await self._client.explain_permission(self.id, path)

    async def refusals(self) -> List[RefusedPath]:
        """The paths at which the rules refused what commands tried, since the sandbox runs."""
        return await self._client.list_refusals(self.id)

    async def changes(self, paths: Paths = None, **options: Any) -> List[FileChange]:
        """The paths at which the sandbox differs from its codebase; see `list_changes` of the client."""
        return await self._client.list_changes(self.id, paths, **options)

    async def patch(self, paths: Paths = None, *, exclude: Paths = None) -> str:
        """The changes as a unified diff for `git apply`. Bytes that are not UTF-8 are kept as surrogates."""
        raw = await self._client.patch(self.id, paths, exclude=exclude)
        return raw.decode("utf-8", "surrogateescape")

    async def commit(self, paths: Paths = None, **options: Any) -> CommitResponse:
        """Moves changes into the codebase, all or nothing; see `commit` of the client.

        The codebase of `from_local` is then no longer deleted with the sandbox.
        """
        if not options.get("dry_run"):
            # Before the call: its answer may be lost.
            self._owns_codebase = False
            self._unpulled = ()
        return await self._client.commit(self.id, paths, **options)

    async def discard(self, paths: Paths = None, **options: Any) -> int:
        """Drops changes, all or nothing; see `discard` of the client."""
        self._unpulled = ()
        return await self._client.discard(self.id, paths, **options)

    async def checkpoint(self, name: str) -> Checkpoint:
        """Saves the present files under a name."""
        return await self._client.create_checkpoint(self.id, name)

    async def rollback(self, checkpoint: str) -> None:
        """Returns the files to a checkpoint."""
        self._info = await self._client.rollback(self.id, checkpoint)

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
        """Applies the changes to a local directory: usually the one that `from_local` uploaded.

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
        found = await self._client.list_changes(self.id, paths, exclude=exclude, local=True)
        listed = {each.path for each in found}
        found += [each for each in removals if each.path not in listed]
        await in_thread(pull.look, found)
        if pull.too_large:
            exclude = [*(exclude or ()), *without(pull.too_large)]
        with tempfile.TemporaryFile() as archive:
            async for piece in self._client.export_changes(self.id, "tar", paths, exclude=exclude):
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
        listed = await self._client.list_changes(self.id, [each.path for each in hunks], diff=True)
        checked = check(hunks, listed)
        for choice in hunks:
            change = checked[choice.path]
            assert change.diff is not None
            path = (old_paths([change]) or [choice.path])[0]
            base = b"".join([piece async for piece in self._client.stream_file(self.codebase_id, path)])
            content = with_hunks(base, change.diff.hunks, choice.indexes, choice.path)
            pull.parts[choice.path] = Taken(content, change.diff.base_mode)
        old = old_paths(checked.values())
        removals = await self._client.list_changes(self.id, old, local=True) if old else []
        return [each for each in removals if each.kind == ChangeKind.DELETED and each.path in old]

