# Generated from _async/sandboxes.py by `npm run generate`; do not edit.
"""Operations on sandboxes: life cycle and rules."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence, Union

from .._duration import Duration, seconds
from .._json import REMOVE, decode
from ..messages import (
    NetworkPolicy,
    PermissionExplanation,
    Preset,
    RefusedPath,
    ResourceLimits,
    Runtime,
    Sandbox,
    SandboxStatus,
    SecretBinding,
)
from ..presets import Rule, ShortRules, rule_fields
from .networks import NetworkOperations


class SandboxOperations(NetworkOperations):
    """Operations on sandboxes."""

    def create_sandbox(
        self,
        codebase_id: str,
        permissions: Optional[Sequence[Rule]] = None,
        runtime: Union[Runtime, str, None] = None,
        image: Optional[str] = None,
        resources: Optional[ResourceLimits] = None,
        labels: Optional[Mapping[str, str]] = None,
        expires_in: Duration = None,
        *,
        preset: Optional[str] = None,
        rules: Optional[ShortRules] = None,
        auto_commit: Optional[str] = None,
        idle_timeout: Duration = None,
        on_idle: Optional[str] = None,
        on_expire: Optional[str] = None,
        shell: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        workdir: Optional[str] = None,
        network: Optional[NetworkPolicy] = None,
        secrets: Optional[Sequence[SecretBinding]] = None,
        read_only_paths: Optional[Sequence[str]] = None,
        workspace_path: Optional[str] = None,
        validate_only: bool = False,
        idempotency_key: Optional[str] = None,
    ) -> Sandbox:
        """Creates a sandbox. It runs when this returns; the caller destroys it.

        Without any rule everything is hidden. `permissions` and `rules` extend `preset`; only one of them may be given.
        What is None is the server's default. The fields are those of CreateSandbox.
        Repeated with an idempotency key if the answer is lost, so that there is one sandbox.
        `validate_only`: only check the arguments.
        """
        fields = {
            "codebase_id": codebase_id,
            **rule_fields(preset, permissions, rules),
            "runtime": Runtime(runtime) if isinstance(runtime, str) else runtime,
            "image": image,
            "resources": resources,
            "labels": labels,
            "expires_in": None if expires_in is None else seconds("expires_in", expires_in),
            "auto_commit": auto_commit,
            "idle_timeout": None if idle_timeout is None else seconds("idle_timeout", idle_timeout),
            "on_idle": on_idle,
            "on_expire": on_expire,
            "shell": shell,
            "env": env,
            "workdir": workdir,
            "network": network,
            "secrets": secrets,
            "read_only_paths": read_only_paths,
            "workspace_path": workspace_path,
            "validate_only": validate_only or None,
        }
        return self._message(Sandbox, "CreateSandbox", fields, key=idempotency_key)

    def get_sandbox(self, sandbox_id: str) -> Sandbox:
        """One sandbox. `NotFoundError` if there is none."""
        return self._message(Sandbox, "GetSandbox", {"sandbox_id": sandbox_id})

    def list_sandboxes(
        self,
        codebase_id: Optional[str] = None,
        *,
        owner_id: Optional[str] = None,
        status: Optional[SandboxStatus] = None,
        labels: Optional[Mapping[str, str]] = None,
    ) -> List[Sandbox]:
        """All sandboxes that the caller may use, the newest first; only those that match all arguments."""
        fields = {"codebase_id": codebase_id, "owner_id": owner_id, "status": status, "labels": labels}
        return self._all(Sandbox, "ListSandboxes", "sandboxes", fields)

    def update_sandbox(self, sandbox_id: str, **changes: Any) -> Sandbox:
        """Changes labels, lifetime, idle policy, shell, environment or working directory, all or nothing.

        A JSON merge patch: `labels={"a": "1", "b": None}` sets one label and removes another. The names are those of
        UpdateSandbox. Not repeated after a cut connection, because `expires_in` counts from the call.
        """
        patch = {name: _changed(name, value) for name, value in changes.items()}
        return self._message(Sandbox, "UpdateSandbox", {"sandbox_id": sandbox_id, **patch})

    def start_sandbox(self, sandbox_id: str) -> Sandbox:
        """Starts a sandbox that is stopped or failed. Changes nothing if it runs."""
        return self._message(Sandbox, "StartSandbox", {"sandbox_id": sandbox_id})

    def stop_sandbox(self, sandbox_id: str) -> Sandbox:
        """Ends every process of a sandbox and keeps its files. Changes nothing if it is stopped."""
        return self._message(Sandbox, "StopSandbox", {"sandbox_id": sandbox_id})

    def destroy_sandbox(self, sandbox_id: str, *, discard: bool = False) -> None:
        """Removes a sandbox with its uncommitted changes.

        With `auto_commit` they are committed first, and `FailedPreconditionError` if that fails; `discard` leaves that
        out.
        """
        self._call("DestroySandbox", {"sandbox_id": sandbox_id, "discard": discard or None})

    def update_permissions(
        self,
        sandbox_id: str,
        permissions: Optional[Sequence[Rule]] = None,
        *,
        preset: Optional[str] = None,
        rules: Optional[ShortRules] = None,
    ) -> Sandbox:
        """Replaces the rules. When this returns every operation obeys the new ones, also those on open files."""
        fields = {"sandbox_id": sandbox_id, **rule_fields(preset, permissions, rules)}
        return self._message(Sandbox, "UpdatePermissions", fields)

    def explain_permission(
        self, sandbox_id: str, path: str = "", *, view: Optional[str] = None
    ) -> PermissionExplanation:
        """The permission of a path, which need not exist, and the rules that decide it."""
        fields = {"sandbox_id": sandbox_id, "path": path, "as": view}
        return self._message(PermissionExplanation, "ExplainPermission", fields)

    def list_refusals(self, sandbox_id: str) -> List[RefusedPath]:
        """The paths at which the rules refused what commands of a running sandbox tried since its start."""
        answer = self._call("ListRefusals", {"sandbox_id": sandbox_id})
        return [decode(RefusedPath, each) for each in answer.get("refusals", ())]

    def list_presets(self) -> List[Preset]:
        """The presets of the service with their rules."""
        answer = self._call("ListPresets", {})
        return [decode(Preset, each) for each in answer.get("presets", ())]


def _changed(name: str, value: Any) -> Any:
    """A value of a merge patch, whose null removes."""
    if value is None:
        return REMOVE
    return seconds(name, value) if name in ("expires_in", "idle_timeout") else value
