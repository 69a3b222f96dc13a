"""A shell that keeps its state."""

from __future__ import annotations

from typing import AsyncGenerator, Unpack

from .._arguments import known_options
from .._kept import Output
from .._output import CommandEvent
from .._removal import removal
from ..messages import Session as SessionInfo
from ..requests import CallOptions, SessionExecRequest
from ..result import CommandResult, result_of
from .api import AsyncApi
from .run import Tell, events, told


@known_options
class AsyncSession:
    """A session. As a context manager it is closed at its end.

    Attributes:
        info: The session when it was started or last asked for; see `refresh`.
    """

    def __init__(self, api: AsyncApi, info: SessionInfo) -> None:
        self._api = api
        self.info = info

    @property
    def id(self) -> str:
        """Identifier of the session."""
        return self.info.id

    async def run(
        self,
        command: str,
        *,
        check: bool = False,
        on_stdout: Tell = None,
        on_stderr: Tell = None,
        **options: Unpack[SessionExecRequest],
    ) -> CommandResult:
        """Runs one command in the shell, after those that were sent before.

        A timeout kills everything in the session (`CommandTimeoutError`); the next command has a new shell, and
        `session_reset` in its result. `FailedPreconditionError` once the shell has exited.
        """
        if on_stdout is None and on_stderr is None:
            result = result_of(await self._api.session_exec(session_id=self.id, command=command, **options), command)
        else:
            output = Output(options.pop("max_output", None), options.get("merge"))
            result = await told(self.stream(command, **options), command, output, on_stdout, on_stderr)
        return result.check() if check else result

    def stream(self, command: str, **options: Unpack[SessionExecRequest]) -> AsyncGenerator[CommandEvent, None]:
        """Runs one command in the shell, with its output as it is written; the last event is its end."""
        return events(self._api.session_exec_stream(session_id=self.id, command=command, **options))

    async def refresh(self, **options: Unpack[CallOptions]) -> SessionInfo:
        """The session now."""
        self.info = await self._api.get_session(session_id=self.id, **options)
        return self.info

    async def close(self, **options: Unpack[CallOptions]) -> None:
        """Kills the shell and everything that was started in it. Does nothing if the session is gone."""
        with removal():
            await self._api.destroy_session(session_id=self.id, **options)

    async def __aenter__(self) -> "AsyncSession":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
