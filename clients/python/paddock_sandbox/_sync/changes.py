# Generated from _async/changes.py by `npm run generate`; do not edit.
"""The changes of a sandbox object."""

from __future__ import annotations

import contextlib
import os
from typing import List, Optional, Sequence, Union, Unpack

from .._arguments import known_options
from .._pulled import Pulled, PullOptions
from ..messages import Checkpoint, CommitResponse, FileChange, RefusedPath
from ..requests import (
    CallOptions,
    CommitRequest,
    CreateCheckpointRequest,
    DiscardRequest,
    ExportChangesRequest,
    ListChangesRequest,
)
from .download import Download
from .pulling import checked_paths, pulled
from .state import State

Paths = Optional[Sequence[str]]


@known_options
class Changes(State):
    """What a sandbox has changed.

    `paths`: only changes at these paths, each with everything below; None: all; an empty list is refused. `exclude`:
    globs, as in rules, of changes to leave out. `include_scratch`: also what was written at scratch paths.
    """

    def refusals(self, **options: Unpack[CallOptions]) -> List[RefusedPath]:
        """The paths at which the rules refused what commands tried, since the sandbox runs."""
        return [each for each in self.api.list_refusals(sandbox_id=self.id, **options)]

    def changes(self, paths: Paths = None, **options: Unpack[ListChangesRequest]) -> List[FileChange]:
        """The paths at which the sandbox differs from its codebase, in byte order.

        `diff`: compare modified and renamed files by lines; `diff` of their changes has the hunks.
        """
        found = self.api.list_changes(sandbox_id=self.id, paths=checked_paths(paths), **options)
        return [each for each in found]

    def patch(self, paths: Paths = None, **options: Unpack[ExportChangesRequest]) -> str:
        """The changes as a unified diff for `git apply`. Bytes that are not UTF-8 are kept as surrogates."""
        return (self._export("patch", paths, **options).read()).decode("utf-8", "surrogateescape")

    def _export(self, format: str, paths: Paths, **options: Unpack[ExportChangesRequest]) -> Download:
        return self.api.export_changes(sandbox_id=self.id, format=format, paths=checked_paths(paths), **options)

    def commit(self, paths: Paths = None, **options: Unpack[CommitRequest]) -> CommitResponse:
        """Moves changes into the codebase, all or nothing.

        `ConflictError` with the paths if the codebase has changed there since, unless `on_conflict` is "ours" (the
        sandbox's version) or "theirs" (the codebase's). `hunks`: modified or renamed files of which only some hunks are
        taken, made by `chosen_hunks`; without `paths` nothing else is. The codebase that `create` made is then no
        longer deleted with the sandbox.
        """
        chosen = checked_paths(paths)
        with contextlib.nullcontext() if options.get("dry_run") else self._shared_codebase():
            answer = self.api.commit(sandbox_id=self.id, paths=chosen, **options)
        if chosen is None and not any(options.get(each) for each in ("dry_run", "exclude", "hunks")):
            self._unpulled.clear()
        return answer

    def discard(self, paths: Paths = None, **options: Unpack[DiscardRequest]) -> int:
        """Drops changes, all or nothing: the paths show the codebase's version again. Returns how many."""
        chosen = checked_paths(paths)
        discarded = (self.api.discard(sandbox_id=self.id, paths=chosen, **options)).discarded
        if chosen is None and not options.get("exclude"):
            self._unpulled.clear()
        return discarded

    def checkpoint(self, name: str, **options: Unpack[CreateCheckpointRequest]) -> Checkpoint:
        """Saves the present files under a name."""
        return self.api.create_checkpoint(sandbox_id=self.id, name=name, **options)

    def checkpoints(self, **options: Unpack[CallOptions]) -> List[Checkpoint]:
        """The checkpoints, oldest first."""
        return [each for each in self.api.list_checkpoints(sandbox_id=self.id, **options)]

    def delete_checkpoint(self, name: str, **options: Unpack[CallOptions]) -> None:
        """Deletes one checkpoint."""
        self.api.delete_checkpoint(sandbox_id=self.id, name=name, **options)

    def rollback(self, checkpoint: str, **options: Unpack[CallOptions]) -> None:
        """Returns the files to a checkpoint. Sessions end. The checkpoint is kept."""
        self.info = self.api.rollback(sandbox_id=self.id, checkpoint=checkpoint, **options)

    def _refused(self, method: str, error: Exception) -> None:
        if method == "pull":
            self._unpulled.refused(error)

    def pull(
        self, directory: Union[str, "os.PathLike[str]"], paths: Paths = None, **options: Unpack[PullOptions]
    ) -> Pulled:
        """Applies the changes to a local directory: usually the one that it was made from. See `PullOptions`.

        A local file is replaced or removed only if it is that of the codebase: otherwise somebody has edited it
        meanwhile, or has removed it. Each file is replaced in one step. Never written: anything through a symlink, a
        symlink that may lead out of the directory, repositories (with `git` those parts of .git that git does not
        run), and what would make a directory one. What tools run on sight, like .envrc or .vscode, is written if
        `paths` or `allow` names it, or a directory above it; a change that loses values of which the sandbox saw
        placeholders only, if `allow` does. Of modes only the execute bit is taken.

        Changes stay in the sandbox; pull before a commit, which makes the codebase the sandbox's version. As a context
        manager the sandbox is kept if its pulls failed, or left conflicts, failures, or what another pull may bring:
        they are nowhere else.
        """
        return pulled(self, directory, paths, options)
