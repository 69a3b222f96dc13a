"""What a session is made from, and what of it is kept to find its sandbox again."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Tuple, Union

from agents.sandbox import Manifest, User
from agents.sandbox.errors import ConfigurationError, ErrorCode
from agents.sandbox.session import BaseSandboxClientOptions, SandboxSessionState
from pydantic import Field

ROOT = "/workspace"


class PaddockSandboxClientOptions(BaseSandboxClientOptions):
    """Options of new sandboxes.

    Attributes:
        preset: Rules by name; None: as in the client.
        rules: Rules in the short form: `{"write": ["src"], "none": ["**/.env*"]}`.
        permissions: Rules one by one, as dictionaries.
        codebase_id: Codebase to start from, which stays. None: an empty one, which is deleted with the sandbox, unless
            something was committed to it.
        image: Image of the sandbox.
        env: Environment variables of all commands, below those of the manifest.
        labels: Labels of the sandbox.
        expires_in: Time until the sandbox expires, like "1h".
        network: What the commands can connect to: `{"mode": "allow_list", "presets": ["pypi"]}`; None: nothing.
        exposed_ports: Ports that `resolve_exposed_port` may open. The server needs `server.preview_domain`.
    """

    type: Literal["paddock"] = "paddock"
    preset: Optional[str] = None
    rules: Optional[Dict[str, List[str]]] = None
    permissions: Optional[List[Dict[str, Any]]] = None
    codebase_id: Optional[str] = None
    image: Optional[str] = None
    env: Optional[Dict[str, str]] = None
    labels: Optional[Dict[str, str]] = None
    expires_in: Optional[str] = None
    network: Optional[Dict[str, Any]] = None
    exposed_ports: Tuple[int, ...] = ()

    def creation(self) -> Dict[str, Any]:
        """The arguments of a new sandbox."""
        fields = self.model_dump(exclude={"type", "codebase_id", "exposed_ports"}, exclude_none=True)
        fields.pop("type", None)
        return fields


class PaddockSandboxSessionState(SandboxSessionState):
    """A sandbox, and how another one like it is made if it no longer exists. It has no key of the service.

    Attributes:
        options: Options of the sandbox.
        sandbox_id: Identifier of the sandbox; empty before the session is started, and after its end.
        codebase_id: Codebase that was made for the sandbox; empty without one.
    """

    type: Literal["paddock"] = "paddock"
    options: PaddockSandboxClientOptions = Field(default_factory=PaddockSandboxClientOptions)
    sandbox_id: str = ""
    codebase_id: str = ""


def _unsupported(feature: str) -> ConfigurationError:
    return ConfigurationError(
        message=f"paddock does not support {feature}",
        error_code=ErrorCode.SANDBOX_CONFIG_INVALID,
        op="start",
        context={"backend": "paddock", "feature": feature},
        retryable=False,
    )


def assert_supported(manifest: Manifest) -> None:
    """Refuses what would silently be left out."""
    if manifest.root != ROOT:
        raise _unsupported(f"the root {manifest.root}: it is {ROOT}")
    if manifest.users or manifest.groups or any(entry.group for _, entry in manifest.iter_entries()):
        raise _unsupported("users and groups")
    if manifest.mount_targets():
        raise _unsupported("mounts")


def refuse_user(user: Union[str, User, None]) -> None:
    if user is not None:
        raise _unsupported("users: each sandbox has one")
