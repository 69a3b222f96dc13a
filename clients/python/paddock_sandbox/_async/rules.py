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
from .api import AsyncApi


@known_options
class AsyncRules:
    """What the commands of a sandbox may do with each path."""

    def __init__(self, api: AsyncApi, sandbox_id: str) -> None:
        self._api = api
        self._sandbox_id = sandbox_id

    async def get(self, **options: Unpack[CallOptions]) -> tuple[PermissionRule, ...]:
        """The rules in force."""
        return (await self._api.get_sandbox(sandbox_id=self._sandbox_id, **options)).permissions

    async def set(self, **options: Unpack[UpdatePermissionsRequest]) -> SandboxInfo:
        """Replaces all rules, as `create` takes them: with `preset="none"` the given ones stand alone.

        When this returns every operation obeys the new ones, also those on open files.
        """
        return await self._api.update_permissions(sandbox_id=self._sandbox_id, **with_preset(options))

    async def explain(self, path: str, **options: Unpack[ExplainPermissionRequest]) -> PermissionExplanation:
        """The permission of a path, which need not exist, and the rules that decide it. The root is "/workspace"."""
        require_form("path", path, "!string")
        return await self._api.explain_permission(sandbox_id=self._sandbox_id, path=in_workspace(path), **options)

    async def preview(self, path: str, **options: Unpack[CallOptions]) -> PreviewFileResponse:
        """What commands see of a file with placeholders, and the keys whose values they do not see."""
        return await self._api.preview_file(sandbox_id=self._sandbox_id, path=in_workspace(path), **options)
