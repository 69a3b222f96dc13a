# Generated from _async/review.py by `npm run generate`; do not edit.
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
from .files import Files
from .running import RunMethods
from .concurrency import in_thread


class ReviewMethods(RunMethods):
    """Files, rules and changes."""

    @property
    def files(self) -> Files:
        """The files of the workspace, with the rules of the sandbox."""
        return Files(self._client, self.id)

    def read_file(self, path: str) -> str:
        """A file of the workspace as text (UTF-8), without the rules; `files` has them."""
        return (self.read_file_bytes(path)).decode("utf-8")

    def read_file_bytes(self, path: str) -> bytes:
        """A file of the workspace, without the rules."""
        return self.files.as_owner().read(path)

    def write_file(self, path: str, content: Union[str, bytes]) -> None:
        """Creates or replaces a file of the workspace, without the rules. It is a change of the sandbox."""
        self.files.as_owner().write(path, content)

    def list_files(self, path: str = "", recursive: bool = False) -> List[str]:
        """The paths of files below a directory of the workspace, without the rules and without directories."""
        found = self.files.as_owner().list(path, recursive=recursive)
        return [each.path for each in found if each.type != FileType.DIRECTORY]

    @property
    def rules(self) -> Sequence[PermissionRule]:
        """The rules in force when the service was last asked."""
        return self._info.permissions

    def set_rules(
        self,
        permissions: Optional[Sequence[Rule]] = None,
        *,
        preset: Optional[str] = None,
        rules: Optional[ShortRules] = None,
    ) -> None:
        """Replaces the rules. When this returns every operation obeys the new ones, also those on open files."""
        self._info = self._client.update_permissions(self.id, permissions, preset=preset, rules=rules)

    def explain(self, path: str) -> PermissionExplanation:
        """The permission of a path, which need not exist, and why."""
        return self._client.explain_permission(self.id, path)

    def refusals(self) -> List[RefusedPath]:
        """The paths at which the rules refused what commands tried, since the sandbox runs."""
        return self._client.list_refusals(self.id)

    def changes(self, paths: Paths = None, **options: Any) -> List[FileChange]:
        """The paths at which the sandbox differs from its codebase; see `list_changes` of the client."""
        return self._client.list_changes(self.id, paths, **options)

    def patch(self, paths: Paths = None, *, exclude: Paths = None) -> str:
        """The changes as a unified diff for `git apply`. Bytes that are not UTF-8 are kept as surrogates."""
        raw = self._client.patch(self.id, paths, exclude=exclude)
        return raw.decode("utf-8", "surrogateescape")

    def commit(self, paths: Paths = None, **options: Any) -> CommitResponse:
        """Moves changes into the codebase, all or nothing; see `commit` of the client.

        The codebase of `from_local` is then no longer deleted with the sandbox.
        """
        if not options.get("dry_run"):
            # Before the call: its answer may be lost.
            self._owns_codebase = False
            self._unpulled = ()
        return self._client.commit(self.id, paths, **options)

    def discard(self, paths: Paths = None, **options: Any) -> int:
        """Drops changes, all or nothing; see `discard` of the client."""
        self._unpulled = ()
        return self._client.discard(self.id, paths, **options)

    def checkpoint(self, name: str) -> Checkpoint:
        """Saves the present files under a name."""
        return self._client.create_checkpoint(self.id, name)

    def rollback(self, checkpoint: str) -> None:
        """Returns the files to a checkpoint."""
        self._info = self._client.rollback(self.id, checkpoint)

    def pull(
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
        removals = self._take_parts(pull, hunks)
        found = self._client.list_changes(self.id, paths, exclude=exclude, local=True)
        listed = {each.path for each in found}
        found += [each for each in removals if each.path not in listed]
        in_thread(pull.look, found)
        if pull.too_large:
            exclude = [*(exclude or ()), *without(pull.too_large)]
        with tempfile.TemporaryFile() as archive:
            for piece in self._client.export_changes(self.id, "tar", paths, exclude=exclude):
                archive.write(piece)
                # Each member has a header, and its name may take some blocks.
                if archive.tell() > max_bytes + 2**14 * (len(found) + 1):
                    raise InvalidArgumentError(
                        f"the changes have more than {max_bytes} bytes: raise max_bytes, or name paths"
                    )
            # Without writing first. The second result has other conflicts only if somebody edits files meanwhile.
            for dry in (True, False) if on_conflict == "raise" else (False,):
                result = in_thread(pull.apply, archive, dry)
                self._unpulled = (*result.conflicts, *(each.path for each in pull.too_large))
                if on_conflict == "raise" and result.conflicts:
                    error = ConflictError(f"edited locally since the upload: {', '.join(result.conflicts[:10])}")
                    error.paths = result.conflicts
                    raise error
            return result

    def _take_parts(self, pull: Pull, hunks: Sequence[ChosenHunks]) -> List[FileChange]:
        """Gives it what is taken of files with hunks; returns the removals of the old paths of renamed ones."""
        if not hunks:
            return []
        listed = self._client.list_changes(self.id, [each.path for each in hunks], diff=True)
        checked = check(hunks, listed)
        for choice in hunks:
            change = checked[choice.path]
            assert change.diff is not None
            path = (old_paths([change]) or [choice.path])[0]
            base = b"".join([piece for piece in self._client.stream_file(self.codebase_id, path)])
            content = with_hunks(base, change.diff.hunks, choice.indexes, choice.path)
            pull.parts[choice.path] = Taken(content, change.diff.base_mode)
        old = old_paths(checked.values())
        removals = self._client.list_changes(self.id, old, local=True) if old else []
        return [each for each in removals if each.kind == ChangeKind.DELETED and each.path in old]

