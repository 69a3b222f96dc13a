# Generated from _async/networks.py by `npm run generate`; do not edit.
"""Operations on the networks of sandboxes."""

from __future__ import annotations

from typing import Generator, List, Optional, Sequence

from .._json import decode
from ..messages import Connection, NetworkEvent, NetworkExplanation, NetworkPolicy, NetworkPreset, NetworkRule
from .caller import Caller


class NetworkOperations(Caller):
    """Operations on what the commands of sandboxes can connect to."""

    def get_network(self, sandbox_id: str) -> NetworkPolicy:
        """The policy of a sandbox, with the rules of its presets."""
        return self._message(NetworkPolicy, "GetNetwork", {"sandbox_id": sandbox_id})

    def update_network(
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
        return self._message(NetworkPolicy, "UpdateNetwork", fields)

    def explain_network(
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
        return self._message(NetworkExplanation, "ExplainNetwork", fields)

    def list_connections(self, sandbox_id: str) -> List[Connection]:
        """The open and the last closed connections of a running sandbox, and what was refused, the newest first."""
        return self._all(Connection, "ListConnections", "connections", {"sandbox_id": sandbox_id})

    def watch_network(
        self, sandbox_id: str, *, after: int = 0, denied_only: bool = False
    ) -> Generator[NetworkEvent, None, None]:
        """Kept events of the network of a sandbox, and each one as it happens. The last event has `end`.

        `after`: `sequence` of the last event that the caller has. `denied_only`: only what is refused. Goes on where it
        was after a cut connection. Leaving the loop does not affect the sandbox.
        """
        fields = {"sandbox_id": sandbox_id, "after": after, "denied_only": denied_only or None}
        messages = self._watched("WatchNetwork", fields, "after", "sequence")
        try:
            for message in messages:
                yield decode(NetworkEvent, message)
        finally:
            messages.close()

    def list_network_presets(self) -> List[NetworkPreset]:
        """The presets for networks with their rules."""
        answer = self._call("ListNetworkPresets", {})
        return [decode(NetworkPreset, each) for each in answer.get("presets", ())]
