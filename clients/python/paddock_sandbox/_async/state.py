"""What a sandbox object has and knows without a call."""

from __future__ import annotations

from .._unpulled import Unpulled
from ..messages import Runtime, SandboxStatus
from ..messages import Sandbox as SandboxInfo
from .api import AsyncApi


class AsyncState:
    """State of a sandbox object.

    Attributes:
        api: One method for each operation of the service.
        info: The sandbox when the service was last asked; see `refresh`.
    """

    api: AsyncApi
    info: SandboxInfo
    _owns_codebase: bool
    _unpulled: Unpulled

    @property
    def id(self) -> str:
        """Identifier of the sandbox."""
        return self.info.id

    @property
    def codebase_id(self) -> str:
        """Identifier of its codebase."""
        return self.info.codebase_id

    @property
    def status(self) -> SandboxStatus:
        """Its state when the service was last asked."""
        return self.info.status

    @property
    def runtime(self) -> Runtime:
        """Mechanism that isolates it."""
        return self.info.runtime

    def __repr__(self) -> str:
        return f"{type(self).__name__}(id={self.id!r}, status={str(self.status)!r})"
