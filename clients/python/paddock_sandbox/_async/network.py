"""The network of a sandbox."""

from __future__ import annotations

from typing import AsyncGenerator, Optional, Unpack

from .._arguments import known_options
from ..messages import Connection, NetworkEvent, NetworkExplanation, NetworkPolicy
from ..requests import CallOptions, ExplainNetworkRequest, UpdateNetworkRequest, WatchNetworkRequest
from .api import AsyncApi


@known_options
class AsyncNetwork:
    """What the commands of a sandbox can connect to."""

    def __init__(self, api: AsyncApi, sandbox_id: str) -> None:
        self._api = api
        self._sandbox_id = sandbox_id

    async def get(self, **options: Unpack[CallOptions]) -> NetworkPolicy:
        """The policy, with the rules of its presets."""
        return await self._api.get_network(sandbox_id=self._sandbox_id, **options)

    async def set(self, mode: str, **options: Unpack[UpdateNetworkRequest]) -> NetworkPolicy:
        """Replaces the policy: "none", "allow_list" or "open". When this returns, what it does not allow has been cut.

        `ConflictError` if `revision` is not that of the policy that is replaced.
        """
        return await self._api.update_network(sandbox_id=self._sandbox_id, mode=mode, **options)

    async def explain(
        self,
        host: str,
        port: Optional[int] = None,
        *,
        path: Optional[str] = None,
        **options: Unpack[ExplainNetworkRequest],
    ) -> NetworkExplanation:
        """Whether a connection to a name or an address would be allowed, and what decides it."""
        return await self._api.explain_network(
            sandbox_id=self._sandbox_id, host=host, port=port, path=path, **options
        )

    def connections(self, **options: Unpack[CallOptions]) -> AsyncGenerator[Connection, None]:
        """The open and the last closed connections of a running sandbox, and what was refused, the newest first."""
        return self._api.list_connections(sandbox_id=self._sandbox_id, **options)

    def watch(self, **options: Unpack[WatchNetworkRequest]) -> AsyncGenerator[NetworkEvent, None]:
        """Kept events, and each one as it happens. The last event has `end`.

        `after`: `sequence` of the last event that the caller has. `denied_only`: only what is refused. Goes on where it
        was after a cut connection. Leaving the loop does not affect the sandbox.
        """
        return self._api.watch_network(sandbox_id=self._sandbox_id, **options)
