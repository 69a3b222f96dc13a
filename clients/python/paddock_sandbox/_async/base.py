"""What a sandbox object has and knows without a call."""

from __future__ import annotations

from typing import Optional, Tuple

from ..messages import Codebase, Runtime, SandboxStatus
from ..messages import Sandbox as SandboxInfo
from .client import AsyncSandboxClient


class AsyncSandboxBase:
    """State of a sandbox object."""

    def __init__(
        self,
        client: AsyncSandboxClient,
        info: SandboxInfo,
        codebase: Optional[Codebase] = None,
        *,
        owns_client: bool = False,
        owns_codebase: bool = False,
        owns_sandbox: bool = False,
    ) -> None:
        self._client = client
        self._info = info
        self._codebase = codebase
        self._owns_client = owns_client
        self._owns_codebase = owns_codebase
        self._owns_sandbox = owns_sandbox
        self._destroyed = False
        #: Changes that the last `pull` could not bring: they are only in the sandbox.
        self._unpulled: Tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Identifier of the sandbox."""
        return self._info.id

    @property
    def codebase_id(self) -> str:
        """Identifier of its codebase."""
        return self._info.codebase_id

    @property
    def codebase(self) -> Optional[Codebase]:
        """Its codebase when this object was made; None after `connect`."""
        return self._codebase

    @property
    def info(self) -> SandboxInfo:
        """The sandbox when the service was last asked; see `refresh`."""
        return self._info

    @property
    def status(self) -> SandboxStatus:
        """Its state then."""
        return self._info.status

    @property
    def runtime(self) -> Runtime:
        """Mechanism that isolates it."""
        return self._info.runtime

    @property
    def client(self) -> AsyncSandboxClient:
        """The client, for operations that this object has no method for."""
        return self._client

    def __repr__(self) -> str:
        return f"{type(self).__name__}(id={self.id!r}, status={str(self.status)!r})"
