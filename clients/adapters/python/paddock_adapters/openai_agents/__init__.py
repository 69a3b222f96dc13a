"""A sandbox client for the OpenAI Agents SDK (openai-agents 0.24.0).

`Runner.run(agent, input, run_config=RunConfig(sandbox=SandboxRunConfig(client=PaddockSandboxClient())))`. What the
model does, by the shell, `view_image` and `apply_patch`, obeys the rules of the sandbox; what the application does
(the manifest, archives and snapshots of the workspace) is done as its owner.
"""

from __future__ import annotations

import uuid
from typing import Any, Dict, Optional, Union

from agents.sandbox import Manifest, SnapshotSpec, resolve_snapshot
from agents.sandbox.session import (
    BaseSandboxClient,
    Dependencies,
    Instrumentation,
    SandboxSession,
    SandboxSessionState,
)
from agents.sandbox.snapshot import SnapshotBase

from .session import PaddockSandboxSession, PaddockSession
from .state import PaddockSandboxClientOptions, PaddockSandboxSessionState, assert_supported

__all__ = [
    "PaddockSandboxClient",
    "PaddockSandboxClientOptions",
    "PaddockSandboxSessionState",
    "PaddockSession",
]


class PaddockSandboxClient(BaseSandboxClient[Optional[PaddockSandboxClientOptions]]):
    """Makes a sandbox for each session: when it starts, until it is closed or deleted.

    `options`: of sandboxes whose `create` has none. `connection`: arguments of `AsyncPaddock`, for example `url`
    and `key`; without them those of PADDOCK_URL and PADDOCK_KEY.
    """

    backend_id = "paddock"
    supports_default_options = True

    def __init__(
        self,
        options: Optional[PaddockSandboxClientOptions] = None,
        *,
        instrumentation: Optional[Instrumentation] = None,
        dependencies: Optional[Dependencies] = None,
        **connection: Any,
    ) -> None:
        super().__init__()
        self._options = options or PaddockSandboxClientOptions()
        self._instrumentation = instrumentation or Instrumentation()
        self._dependencies = dependencies
        self._connection = connection

    async def create(
        self,
        *,
        snapshot: Union[SnapshotSpec, SnapshotBase, None] = None,
        manifest: Optional[Manifest] = None,
        options: Optional[PaddockSandboxClientOptions] = None,
    ) -> PaddockSession:
        """A session, which makes its sandbox when it starts, with the files of the manifest or the snapshot."""
        manifest = self._validate_manifest_for_create(manifest if manifest is not None else Manifest())
        assert_supported(manifest)
        session_id = uuid.uuid4()
        chosen = options or self._options
        state = PaddockSandboxSessionState(
            session_id=session_id,
            manifest=manifest,
            snapshot=resolve_snapshot(snapshot, str(session_id)),
            options=chosen,
            exposed_ports=chosen.exposed_ports,
        )
        return self._session(PaddockSandboxSession(state, self._connection))

    async def delete(self, session: SandboxSession) -> SandboxSession:
        """Destroys the sandbox with all that runs in it. Does nothing if that was done."""
        if not isinstance(session, PaddockSession):
            raise TypeError("the session is not one of paddock")
        await session._inner.shutdown()
        return session

    async def resume(self, state: SandboxSessionState) -> PaddockSession:
        """A session with the sandbox of the state, or with one like it if that no longer exists."""
        if not isinstance(state, PaddockSandboxSessionState):
            raise TypeError("the state is not one of paddock")
        state.assert_path_grants_rebound()
        assert_supported(state.manifest)
        inner = PaddockSandboxSession(state, self._connection)
        await inner.reconnect()
        return self._session(inner)

    def deserialize_session_state(self, payload: Dict[str, object]) -> SandboxSessionState:
        return self._deserialize_session_state_payload(payload, PaddockSandboxSessionState)

    def _session(self, inner: PaddockSandboxSession) -> PaddockSession:
        return PaddockSession(inner, instrumentation=self._instrumentation, dependencies=self._resolve_dependencies())
