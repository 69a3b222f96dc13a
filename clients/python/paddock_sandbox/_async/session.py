"""A shell that keeps its state."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, AsyncGenerator, Optional, Type

from ..errors import NotFoundError
from ..messages import Session, SessionStatus
from ..result import ExecResult

if TYPE_CHECKING:
    from .commands import AsyncCommandOperations
    from .._duration import Duration


class AsyncSessionWrapper:
    """A session. As a context manager it destroys the session at its end."""

    def __init__(self, client: "AsyncCommandOperations", session: Session) -> None:
        self._client = client
        self._session = session

    @property
    def id(self) -> str:
        """Identifier of the session."""
        return self._session.id

    @property
    def sandbox_id(self) -> str:
        """Identifier of its sandbox."""
        return self._session.sandbox_id

    @property
    def status(self) -> SessionStatus:
        """Its state when it was created."""
        return self._session.status

    @property
    def shell(self) -> str:
        """Path of its shell in the sandbox."""
        return self._session.shell

    async def exec(
        self,
        command: str,
        timeout: "Duration" = None,
        *,
        max_output: Optional[int] = None,
        merge: bool = False,
        check: bool = False,
    ) -> ExecResult:
        """Runs one command in the shell: see `session_exec` of the client."""
        result = await self._client.session_exec(
            self.id, command, timeout, max_output=max_output, merge=merge
        )
        return result.check() if check else result

    def exec_stream(self, command: str, timeout: "Duration" = None) -> AsyncGenerator[bytes, None]:
        """Runs one command in the shell and yields its output as it is written."""
        return self._client.session_exec_stream(self.id, command, timeout)

    async def close(self) -> None:
        """Kills the shell and everything that was started in it. Does nothing if the session is gone."""
        try:
            await self._client.destroy_session(self.id)
        except NotFoundError:
            pass

    async def __aenter__(self) -> "AsyncSessionWrapper":
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.close()
