"""Operations on the changes of a sandbox: review, commit, discard, checkpoints, forks."""

from __future__ import annotations

from typing import Any, AsyncGenerator, Dict, List, Mapping, Optional, Sequence

from .._duration import Duration, seconds
from .._json import decode
from ..errors import InvalidArgumentError
from ..messages import (
    Checkpoint,
    ChosenHunks,
    CommitResponse,
    DiscardResponse,
    FileChange,
    ForkResponse,
    NetworkPolicy,
    ResourceLimits,
    Sandbox,
    SecretBinding,
)
from ..presets import Rule, ShortRules, rule_fields
from .processes import AsyncProcessOperations

Paths = Optional[Sequence[str]]


class AsyncChangeOperations(AsyncProcessOperations):
    """Operations on the changes of a sandbox.

    `paths`: only changes at these paths, each with everything below; None: all; an empty list is refused. `exclude`:
    globs, as in rules, of changes to leave out. `include_scratch`: also what was written at scratch paths.
    """

    async def list_changes(
        self,
        sandbox_id: str,
        paths: Paths = None,
        *,
        exclude: Paths = None,
        include_scratch: bool = False,
        view: Optional[str] = None,
        diff: bool = False,
        local: bool = False,
    ) -> List[FileChange]:
        """The paths at which the sandbox differs from its codebase, in byte order. `view`: "agent" or "owner".

        `diff`: compare modified and renamed files by lines; `diff` of their changes has the hunks. `local`: `local` of
        the changes has what decides whether they come to a local directory.
        """
        fields = {**_selection(sandbox_id, paths, exclude, include_scratch), "as": view}
        fields.update({"diff": diff or None, "local": local or None})
        return await self._all(FileChange, "ListChanges", "changes", fields)

    def export_changes(
        self,
        sandbox_id: str,
        format: str = "patch",
        paths: Paths = None,
        *,
        exclude: Paths = None,
        include_scratch: bool = False,
        view: Optional[str] = None,
    ) -> AsyncGenerator[bytes, None]:
        """The changes as a stream: "patch" for `git apply`, or "tar" with the added and modified files."""
        fields = {**_selection(sandbox_id, paths, exclude, include_scratch), "as": view, "format": format}
        return self._pieces("ExportChanges", fields)

    async def patch(self, sandbox_id: str, paths: Paths = None, *, exclude: Paths = None) -> bytes:
        """The changes as a unified diff for `git apply`."""
        fields = {**_selection(sandbox_id, paths, exclude, False), "format": "patch"}
        return await self._whole("ExportChanges", fields)

    async def commit(
        self,
        sandbox_id: str,
        paths: Paths = None,
        *,
        exclude: Paths = None,
        include_scratch: bool = False,
        on_conflict: Optional[str] = None,
        hunks: Sequence[ChosenHunks] = (),
        dry_run: bool = False,
        idempotency_key: Optional[str] = None,
    ) -> CommitResponse:
        """Moves changes into the codebase, all or nothing.

        `ConflictError` with the paths if the codebase has changed there since, unless `on_conflict` is "ours" (the
        sandbox's version) or "theirs" (the codebase's). `hunks`: modified or renamed files of which only some hunks are
        taken, made by `chosen_hunks`; without `paths` nothing else is. Repeated with an idempotency key if the answer
        is lost.
        """
        fields = {
            **_selection(sandbox_id, paths, exclude, include_scratch),
            "on_conflict": on_conflict,
            "hunks": list(hunks) or None,
            "dry_run": dry_run,
        }
        return await self._message(CommitResponse, "Commit", fields, key=idempotency_key)

    async def discard(
        self, sandbox_id: str, paths: Paths = None, *, exclude: Paths = None, include_scratch: bool = False
    ) -> int:
        """Drops changes, all or nothing: the paths show the codebase's version again. Returns how many."""
        fields = _selection(sandbox_id, paths, exclude, include_scratch)
        return (await self._message(DiscardResponse, "Discard", fields)).discarded

    async def create_checkpoint(
        self, sandbox_id: str, name: str, *, idempotency_key: Optional[str] = None
    ) -> Checkpoint:
        """Saves the present files of a sandbox under a name. Removed with the sandbox."""
        fields = {"sandbox_id": sandbox_id, "name": name}
        return await self._message(Checkpoint, "CreateCheckpoint", fields, key=idempotency_key)

    async def list_checkpoints(self, sandbox_id: str) -> List[Checkpoint]:
        """The checkpoints of a sandbox, oldest first."""
        answer = await self._call("ListCheckpoints", {"sandbox_id": sandbox_id})
        return [decode(Checkpoint, each) for each in answer.get("checkpoints", ())]

    async def delete_checkpoint(self, sandbox_id: str, name: str) -> None:
        """Deletes one checkpoint."""
        await self._call("DeleteCheckpoint", {"sandbox_id": sandbox_id, "name": name})

    async def rollback(self, sandbox_id: str, checkpoint: str) -> Sandbox:
        """Returns a sandbox to a checkpoint, with its open files. Sessions end. The checkpoint is kept."""
        return await self._message(Sandbox, "Rollback", {"sandbox_id": sandbox_id, "checkpoint": checkpoint})

    async def fork(
        self,
        sandbox_id: str,
        count: int = 1,
        *,
        checkpoint: Optional[str] = None,
        permissions: Optional[Sequence[Rule]] = None,
        preset: Optional[str] = None,
        rules: Optional[ShortRules] = None,
        labels: Optional[Mapping[str, str]] = None,
        expires_in: Duration = None,
        resources: Optional[ResourceLimits] = None,
        env: Optional[Mapping[str, str]] = None,
        network: Optional[NetworkPolicy] = None,
        secrets: Optional[Sequence[SecretBinding]] = None,
        idempotency_key: Optional[str] = None,
    ) -> ForkResponse:
        """Creates sandboxes with the present files of this one, or those of a checkpoint. The caller destroys them.

        One result for each: a sandbox or the error that prevented it. What is None is as in the forked sandbox.
        """
        fields: Dict[str, Any] = {
            "sandbox_id": sandbox_id,
            "count": count,
            "checkpoint": checkpoint,
            **rule_fields(preset, permissions, rules),
            "labels": labels,
            "expires_in": None if expires_in is None else seconds("expires_in", expires_in),
            "resources": resources,
            "env": env,
            "network": network,
            "secrets": secrets,
        }
        return await self._message(ForkResponse, "Fork", fields, key=idempotency_key)


def _selection(sandbox_id: str, paths: Paths, exclude: Paths, include_scratch: bool) -> Dict[str, Any]:
    if isinstance(paths, str) or isinstance(exclude, str):
        raise InvalidArgumentError("paths and exclude must be lists of text")
    if paths is not None and not paths:
        # The service takes no path for all of them.
        raise InvalidArgumentError("paths must name at least one path; None stands for all")
    return {
        "sandbox_id": sandbox_id,
        "paths": None if paths is None else list(paths),
        "exclude": None if exclude is None else list(exclude),
        "include_scratch": include_scratch or None,
    }
