"""Commands, processes and sessions of a sandbox."""

from __future__ import annotations

import uuid
from typing import AsyncGenerator, Optional, Unpack

from .._arguments import known_options
from .._http import Command
from .._kept import Output
from .._output import CommandEvent
from ..requests import CallOptions, CreateSessionRequest, ExecRequest, ListProcessesRequest, StartProcessRequest
from ..result import CommandResult, result_of
from .opening import Opening
from .process import AsyncProcess
from .run import Tell, events, told
from .session import AsyncSession
from .state import AsyncState


@known_options
class AsyncCommands(AsyncState):
    """Commands, processes and sessions. `command`: text for a shell, or a program with its arguments."""

    async def run(
        self,
        command: Command,
        *,
        check: bool = False,
        on_stdout: Tell = None,
        on_stderr: Tell = None,
        **options: Unpack[ExecRequest],
    ) -> CommandResult:
        """Runs a command until it exits.

        An exit code other than 0 is a result; with `check` it is a `CommandError`. `timeout`: like "5m", then
        everything that it started is killed and `CommandTimeoutError` raised; None: the server's default. `on_stdout`,
        `on_stderr`: are called with text as it is written, which is in the result as well. No character is divided;
        `stream` has the bytes. `max_output`: bytes of output to keep, the beginning and the end. Not repeated after a
        cut connection, which ends the command.
        """
        if on_stdout is None and on_stderr is None:
            result = result_of(await self.api.exec(sandbox_id=self.id, command=command, **options), command)
        else:
            output = Output(options.pop("max_output", None), options.get("merge"))
            result = await told(self.stream(command, **options), command, output, on_stdout, on_stderr)
        return result.check() if check else result

    def stream(self, command: Command, **options: Unpack[ExecRequest]) -> AsyncGenerator[CommandEvent, None]:
        """Runs a command, with its output as it is written; the last event is its end. Leaving the loop kills it."""
        return events(self.api.exec_stream(sandbox_id=self.id, command=command, **options))

    def start(
        self, command: Command, *, id: Optional[str] = None, **options: Unpack[StartProcessRequest]
    ) -> Opening[AsyncProcess]:
        """Starts a process, which goes on by itself: a server, a long build.

        Delete it, or use it as a context manager; otherwise it ends with the sandbox. `id`: of the process, unique in
        the sandbox; None: a random one. `stdin`: keep standard input open. `timeout`: time until it is killed; None:
        never.
        """
        # Because of its id a repeated request starts nothing twice.
        return Opening(self._start(command, id or f"p-{uuid.uuid4().hex[:16]}", options))

    async def _start(self, command: Command, process_id: str, options: StartProcessRequest) -> AsyncProcess:
        started = await self.api.start_process(
            sandbox_id=self.id, process_id=process_id, command=command, **options
        )
        return AsyncProcess(self.api, started)

    async def process(self, process_id: str, **options: Unpack[CallOptions]) -> AsyncProcess:
        """A process that was started before, also by another program. Its output is read from the beginning."""
        return AsyncProcess(self.api, await self.api.get_process(sandbox_id=self.id, process_id=process_id, **options))

    async def processes(self, **options: Unpack[ListProcessesRequest]) -> AsyncGenerator[AsyncProcess, None]:
        """The processes, the newest first."""
        async for each in self.api.list_processes(sandbox_id=self.id, **options):
            yield AsyncProcess(self.api, each)

    def session(self, **options: Unpack[CreateSessionRequest]) -> Opening[AsyncSession]:
        """Starts a shell that keeps its directory, variables and background processes between commands.

        As a context manager it is closed at its end, which kills everything that was started in it.
        """
        return Opening(self._session(options))

    async def _session(self, options: CreateSessionRequest) -> AsyncSession:
        return AsyncSession(self.api, await self.api.create_session(sandbox_id=self.id, **options))
