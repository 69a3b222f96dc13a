"""Operations that run commands: single ones, and those of sessions."""

from __future__ import annotations

from typing import AsyncGenerator, Dict, List, Mapping, Optional, Sequence, Union

from .._duration import Duration, exact_seconds, seconds
from .._json import decode
from ..errors import ConnectionFailedError
from ..messages import ExecResponse, ExecStreamChunk, Session
from ..result import ExecResult, result_of
from .opening import Opening
from .sandboxes import AsyncSandboxOperations
from .session import AsyncSessionWrapper

#: Seconds that an answer may take beyond the time limit of its command.
_GRACE = 60.0
Command = Union[str, Sequence[str]]


class AsyncCommandOperations(AsyncSandboxOperations):
    """Operations that run commands. None of them is repeated after a cut connection, which ends the command."""

    async def exec(
        self,
        sandbox_id: str,
        command: Command,
        stdin: Union[str, bytes, None] = None,
        env: Optional[Mapping[str, str]] = None,
        workdir: Optional[str] = None,
        timeout: Duration = None,
        *,
        shell: Optional[str] = None,
        max_output: Optional[int] = None,
        merge: bool = False,
        yield_after: Duration = None,
    ) -> ExecResult:
        """Runs one command until it exits. An exit code other than 0 is a result.

        `command`: text for a shell, or a list of a program and its arguments. `timeout`: time until the command and
        what it started are killed (`CommandTimeoutError`); None: the server's default. `max_output`: bytes of output
        to keep, its beginning and end. `merge`: one stream, in `output`. `yield_after`: time after which a command
        that still runs goes on as a process: `running` and `process_id` of the result.
        """
        fields = {
            "sandbox_id": sandbox_id,
            **_command(command),
            "stdin" if isinstance(stdin, str) else "stdin_bytes": stdin,
            "env": env,
            "workdir": workdir,
            "timeout": seconds("timeout", timeout),
            "shell": shell,
            "max_output": max_output,
            "merge": merge,
            "yield_after": None if yield_after is None else int(exact_seconds("yield_after", yield_after) * 1000),
        }
        answer = await self._message(ExecResponse, "Exec", fields, timeout=_wait(timeout))
        return result_of(answer, _text(command))

    def exec_stream(
        self,
        sandbox_id: str,
        command: Command,
        stdin: Union[str, bytes, None] = None,
        env: Optional[Mapping[str, str]] = None,
        workdir: Optional[str] = None,
        timeout: Duration = None,
        *,
        shell: Optional[str] = None,
        merge: bool = False,
    ) -> AsyncGenerator[bytes, None]:
        """Like `exec`, and yields output of both streams as it is written. Leaving the loop kills the command."""
        chunks = self.exec_chunks(sandbox_id, command, stdin, env, workdir, timeout, shell=shell, merge=merge)
        return self._data(chunks)

    def exec_chunks(
        self,
        sandbox_id: str,
        command: Command,
        stdin: Union[str, bytes, None] = None,
        env: Optional[Mapping[str, str]] = None,
        workdir: Optional[str] = None,
        timeout: Duration = None,
        *,
        shell: Optional[str] = None,
        merge: bool = False,
    ) -> AsyncGenerator[ExecStreamChunk, None]:
        """Like `exec_stream`, with the stream of each piece. The last chunk has the `exit_code` and no data."""
        fields = {
            "sandbox_id": sandbox_id,
            **_command(command),
            "stdin" if isinstance(stdin, str) else "stdin_bytes": stdin,
            "env": env,
            "workdir": workdir,
            "timeout": seconds("timeout", timeout),
            "shell": shell,
            "merge": merge,
        }
        return self._chunks("ExecStream", fields)

    async def _chunks(
        self, operation: str, fields: Mapping[str, object]
    ) -> AsyncGenerator[ExecStreamChunk, None]:
        ended = False
        messages = self._events(operation, {**fields, "keepalive": True})
        try:
            async for message in messages:
                if message.get("keepalive"):
                    continue
                chunk = decode(ExecStreamChunk, message)
                ended = chunk.exit_code is not None
                yield chunk
        finally:
            # An outer generator that is closed does not close this one: its command would go on.
            await messages.aclose()
        if not ended:
            raise ConnectionFailedError(f"the stream of {operation} ended before the command")

    @staticmethod
    async def _data(chunks: AsyncGenerator[ExecStreamChunk, None]) -> AsyncGenerator[bytes, None]:
        try:
            async for chunk in chunks:
                if chunk.data:
                    yield chunk.data
        finally:
            await chunks.aclose()

    async def create_session_info(
        self, sandbox_id: str, shell: Optional[str] = None, env: Optional[Mapping[str, str]] = None
    ) -> Session:
        """Starts a shell that keeps its state between commands; the caller destroys it. See `session`."""
        fields = {"sandbox_id": sandbox_id, "shell": shell, "env": env}
        return await self._message(Session, "CreateSession", fields)

    def create_session(
        self, sandbox_id: str, shell: Optional[str] = None, env: Optional[Mapping[str, str]] = None
    ) -> Opening[AsyncSessionWrapper]:
        """Starts a shell that keeps its directory, variables and background processes between commands.

        `shell`: a name or absolute path in the sandbox; None: the sandbox's own, or bash, or sh. The result is a
        context manager that destroys the session, which kills everything that was started in it.
        """
        return Opening(self._new_session(sandbox_id, shell, env))

    def session(
        self, sandbox_id: str, shell: Optional[str] = None, env: Optional[Mapping[str, str]] = None
    ) -> Opening[AsyncSessionWrapper]:
        """The same as `create_session`."""
        return Opening(self._new_session(sandbox_id, shell, env))

    async def _new_session(
        self, sandbox_id: str, shell: Optional[str], env: Optional[Mapping[str, str]]
    ) -> AsyncSessionWrapper:
        return AsyncSessionWrapper(self, await self.create_session_info(sandbox_id, shell, env))

    async def get_session(self, session_id: str) -> Session:
        """One session; one that has ended is known for an hour."""
        return await self._message(Session, "GetSession", {"session_id": session_id})

    async def list_sessions(self, sandbox_id: str) -> List[Session]:
        """The sessions of a sandbox, the newest first."""
        return await self._all(Session, "ListSessions", "sessions", {"sandbox_id": sandbox_id})

    async def destroy_session(self, session_id: str) -> None:
        """Kills the shell of a session and everything that was started in it."""
        await self._call("DestroySession", {"session_id": session_id})

    async def session_exec(
        self,
        session_id: str,
        command: str,
        timeout: Duration = None,
        *,
        max_output: Optional[int] = None,
        merge: bool = False,
    ) -> ExecResult:
        """Runs one command in the shell of a session, after those that were sent before.

        A timeout kills everything in the session (`CommandTimeoutError`); the next command has a new shell, and
        `session_reset` in its result. `FailedPreconditionError` once the shell has exited.
        """
        fields = {
            "session_id": session_id,
            "command": command,
            "timeout": seconds("timeout", timeout),
            "max_output": max_output,
            "merge": merge,
        }
        answer = await self._message(ExecResponse, "SessionExec", fields, timeout=None)
        return result_of(answer, command)

    def session_exec_stream(
        self, session_id: str, command: str, timeout: Duration = None, *, merge: bool = False
    ) -> AsyncGenerator[bytes, None]:
        """Like `session_exec`, and yields output as it is written."""
        fields = {"session_id": session_id, "command": command, "timeout": seconds("timeout", timeout), "merge": merge}
        return self._data(self._chunks("SessionExecStream", fields))


def _command(command: Command) -> Dict[str, object]:
    return {"command": command} if isinstance(command, str) else {"argv": list(command)}


def _text(command: Command) -> str:
    return command if isinstance(command, str) else " ".join(command)


def _wait(timeout: Duration) -> Optional[float]:
    """Seconds to wait for an answer; without a limit of the command none: keepalives of TCP find a dead server."""
    limit = exact_seconds("timeout", timeout)
    return limit + _GRACE if limit > 0 else None
