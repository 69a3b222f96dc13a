"""Operations on the networks of sandboxes."""

from __future__ import annotations

from typing import AsyncGenerator, List, Optional, Sequence

from .._json import decode
from ..messages import Connection, NetworkEvent, NetworkExplanation, NetworkPolicy, NetworkPreset, NetworkRule
from .caller import AsyncCaller


class AsyncNetworkOperations(AsyncCaller):
    """Operations on what the commands of sandboxes can connect to."""

    async def get_network(self, sandbox_id: str) -> NetworkPolicy:
        """The policy of a sandbox, with the rules of its presets."""
        return await self._message(NetworkPolicy, "GetNetwork", {"sandbox_id": sandbox_id})

    async def update_network(
        self,
        sandbox_id: str,
        mode: str,
        rules: Optional[Sequence[NetworkRule]] = None,
        presets: Optional[Sequence[str]] = None,
        *,
        revision: Optional[int] = None,
    ) -> NetworkPolicy:
        """Replaces the policy: "none", "allow_list" or "open". When this returns, what it does not allow has been cut.

        `ConflictError` if `revision` is not that of the policy that is replaced.
        """
        fields = {
            "sandbox_id": sandbox_id,
            "mode": mode,
            "rules": None if rules is None else list(rules),
            "presets": None if presets is None else list(presets),
            "revision": revision,
        }
        return await self._message(NetworkPolicy, "UpdateNetwork", fields)

    async def explain_network(
        self,
        sandbox_id: str,
        host: str,
        port: Optional[int] = None,
        *,
        method: Optional[str] = None,
        path: Optional[str] = None,
    ) -> NetworkExplanation:
        """Whether a connection to a name or an address would be allowed, and what decides it."""
        fields = {"sandbox_id": sandbox_id, "host": host, "port": port, "method": method, "path": path}
        return await self._message(NetworkExplanation, "ExplainNetwork", fields)

    async def list_connections(self, sandbox_id: str) -> List[Connection]:
        """The open and the last closed connections of a running sandbox, and what was refused, the newest first."""
        return await self._all(Connection, "ListConnections", "connections", {"sandbox_id": sandbox_id})

    async def watch_network(
        self, sandbox_id: str, *, after: int = 0, denied_only: bool = False
    ) -> AsyncGenerator[NetworkEvent, None]:
        """Kept events of the network of a sandbox, and each one as it happens. The last event has `end`.

        `after`: `sequence` of the last event that the caller has. `denied_only`: only what is refused. Goes on where it
        was after a cut connection. Leaving the loop does not affect the sandbox.
        """
        fields = {"sandbox_id": sandbox_id, "after": after, "denied_only": denied_only or None}
        messages = self._watched("WatchNetwork", fields, "after", "sequence")
        try:
            async for message in messages:
                yield decode(NetworkEvent, message)
        finally:
            await messages.aclose()

    async def list_network_presets(self) -> List[NetworkPreset]:
        """The presets for networks with their rules."""
        answer = await self._call("ListNetworkPresets", {})
        return [decode(NetworkPreset, each) for each in answer.get("presets", ())]
