# Generated from _async/rules.py by `npm run generate`; do not edit.
"""The rules of a sandbox."""

from __future__ import annotations

from typing import Unpack

from .._arguments import known_options
from .._forms import require_form
from .._paths import in_workspace
from .._rules import with_preset
from ..messages import PermissionExplanation, PermissionRule, PreviewFileResponse
from ..messages import Sandbox as SandboxInfo
from ..requests import CallOptions, ExplainPermissionRequest, UpdatePermissionsRequest
from .api import Api


@known_options
class Rules:
    """What the commands of a sandbox may do with each path."""

    def __init__(self, api: Api, sandbox_id: str) -> None:
        self._api = api
        self._sandbox_id = sandbox_id

    def get(self, **options: Unpack[CallOptions]) -> tuple[PermissionRule, ...]:
        """The rules in force."""
        return (self._api.get_sandbox(sandbox_id=self._sandbox_id, **options)).permissions

    def set(self, **options: Unpack[UpdatePermissionsRequest]) -> SandboxInfo:
        """Replaces all rules, as `create` takes them: with `preset="none"` the given ones stand alone.

        When this returns every operation obeys the new ones, also those on open files.
        """
        return self._api.update_permissions(sandbox_id=self._sandbox_id, **with_preset(options))

    def explain(self, path: str, **options: Unpack[ExplainPermissionRequest]) -> PermissionExplanation:
        """The permission of a path, which need not exist, and the rules that decide it. The root is "/workspace"."""
        require_form("path", path, "!string")
        return self._api.explain_permission(sandbox_id=self._sandbox_id, path=in_workspace(path), **options)

    def preview(self, path: str, **options: Unpack[CallOptions]) -> PreviewFileResponse:
        """What commands see of a file with placeholders, and the keys whose values they do not see."""
        return self._api.preview_file(sandbox_id=self._sandbox_id, path=in_workspace(path), **options)
