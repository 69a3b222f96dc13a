# Generated from _async/running.py by `npm run generate`; do not edit.
"""Commands, processes and sessions of a sandbox object."""

from __future__ import annotations

from codecs import getincrementaldecoder
from typing import Any, Generator, Callable, List, Mapping, Optional, Union

from .._duration import Duration
from ..errors import CommandTimeoutError
from ..messages import (
    ExecStreamChunk,
    ListPortsResponse,
    OpenPortResponse,
    OutputStream,
    TerminalSize,
    WaitPortResponse,
)
from ..result import ExecResult
from .base import SandboxBase
from .commands import Command, _text
from .process import ProcessHandle
from .session import SessionWrapper


class RunMethods(SandboxBase):
    """Commands, processes and sessions."""

    def run(
        self,
        command: Command,
        timeout: Duration = "1m",
        env: Optional[Mapping[str, str]] = None,
        workdir: Optional[str] = None,
        check: bool = False,
        *,
        stdin: Union[str, bytes, None] = None,
        shell: Optional[str] = None,
        max_output: Optional[int] = None,
        merge: bool = False,
        on_stdout: Optional[Callable[[str], object]] = None,
        on_stderr: Optional[Callable[[str], object]] = None,
    ) -> ExecResult:
        """Runs a command until it exits.

        An exit code other than 0 is a result; with `check` it is a `CommandError`. `timeout`:
        like "5m", then everything that it started is killed and `CommandTimeoutError` raised; None: the
        server's default. `on_stdout`, `on_stderr`: are called with text as it is written, which is in the result as
        well (all of it, `max_output` does not apply). No character is divided; `exec_stream` has the bytes. Not
        repeated after a cut connection, which ends the command.
        """
        if on_stdout is None and on_stderr is None:
            result = self._client.exec(
                self.id,
                command,
                stdin,
                env,
                workdir,
                timeout,
                shell=shell,
                max_output=max_output,
                merge=merge,
            )
        else:
            chunks = self._client.exec_chunks(
                self.id, command, stdin, env, workdir, timeout, shell=shell, merge=merge
            )
            collected = _Collected(on_stdout, on_stderr)
            try:
                for chunk in chunks:
                    collected.add(chunk)
            except CommandTimeoutError as error:
                error.stdout, error.stderr = collected.text(OutputStream.STDOUT), collected.text(OutputStream.STDERR)
                raise
            finally:
                # Also after an exception of a callback, which ends the command.
                chunks.close()
            result = collected.result(command, merge)
        return result.check() if check else result

    def exec(
        self,
        command: Command,
        stdin: Union[str, bytes, None] = None,
        env: Optional[Mapping[str, str]] = None,
        workdir: Optional[str] = None,
        timeout: Duration = None,
        **options: Any,
    ) -> ExecResult:
        """Runs a command until it exits; see `exec` of the client for the options."""
        return self._client.exec(self.id, command, stdin, env, workdir, timeout, **options)

    def exec_stream(
        self,
        command: Command,
        stdin: Union[str, bytes, None] = None,
        env: Optional[Mapping[str, str]] = None,
        workdir: Optional[str] = None,
        timeout: Duration = None,
        **options: Any,
    ) -> Generator[bytes, None, None]:
        """Runs a command and yields output of both streams as it is written. Leaving the loop kills the command."""
        return self._client.exec_stream(self.id, command, stdin, env, workdir, timeout, **options)

    def start_process(
        self,
        command: Command,
        *,
        process_id: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        workdir: Optional[str] = None,
        stdin: bool = False,
        terminal: Optional[TerminalSize] = None,
        timeout: Duration = None,
        labels: Optional[Mapping[str, str]] = None,
        shell: Optional[str] = None,
    ) -> ProcessHandle:
        """Starts a process, which goes on by itself: a server, a long build. See `start_process` of the client.

        Delete it, or use the handle as a context manager; otherwise it ends with the sandbox.
        """
        process = self._client.start_process(
            self.id,
            command,
            process_id=process_id,
            env=env,
            workdir=workdir,
            stdin=stdin,
            terminal=terminal,
            timeout=timeout,
            labels=labels,
            shell=shell,
        )
        return ProcessHandle(self._client, process)

    def process(self, process_id: str) -> ProcessHandle:
        """A process that was started before, also by another program. Its output is read from the beginning."""
        return ProcessHandle(self._client, self._client.get_process(self.id, process_id))

    def processes(self, *, running: bool = False) -> List[ProcessHandle]:
        """The processes, the newest first."""
        found = self._client.list_processes(self.id, running=running)
        return [ProcessHandle(self._client, each) for each in found]

    def session(
        self, shell: Optional[str] = None, env: Optional[Mapping[str, str]] = None
    ) -> SessionWrapper:
        """Starts a shell that keeps its directory, variables and background processes; see `create_session`."""
        return self._client._new_session(self.id, shell, env)

    def wait_port(self, port: int, timeout: Duration = "30s") -> WaitPortResponse:
        """Waits up to `timeout` until a program listens on a TCP port.

        `listening` of the answer is False if none does then.
        """
        return self._client.wait_port(self.id, port, timeout)

    def open_port(
        self, port: int, *, access: str = "key", expires_in: Duration = None
    ) -> OpenPortResponse:
        """Opens a TCP port; see `SandboxClient.open_port`."""
        return self._client.open_port(self.id, port, access=access, expires_in=expires_in)

    def list_ports(self, *, listening: bool = False) -> ListPortsResponse:
        """The opened ports; with `listening` also the numbers of those that programs listen on."""
        return self._client.list_ports(self.id, listening=listening)

    def close_port(self, port: int) -> None:
        """Closes a port: its link token is not valid any more, and its connections are cut."""
        self._client.close_port(self.id, port)


class _Collected:
    """The output of a stream."""

    def __init__(
        self, on_stdout: Optional[Callable[[str], object]], on_stderr: Optional[Callable[[str], object]]
    ) -> None:
        self._tell = {
            stream: (tell, getincrementaldecoder("utf-8")("replace"))
            for stream, tell in ((OutputStream.STDOUT, on_stdout), (OutputStream.STDERR, on_stderr))
            if tell is not None
        }
        self._pieces: List[ExecStreamChunk] = []

    def add(self, chunk: ExecStreamChunk) -> None:
        self._pieces.append(chunk)
        ends = chunk.exit_code is not None
        for stream, (tell, decoder) in self._tell.items():
            text = decoder.decode(chunk.data if stream == chunk.stream else b"", final=ends)
            if text:
                tell(text)

    def text(self, stream: OutputStream) -> str:
        return b"".join(each.data for each in self._pieces if each.stream == stream).decode("utf-8", "replace")

    def result(self, command: Command, merge: bool) -> ExecResult:
        last = self._pieces[-1]
        stdout, stderr = self.text(OutputStream.STDOUT), self.text(OutputStream.STDERR)
        return ExecResult(
            stdout="" if merge else stdout,
            stderr=stderr,
            exit_code=last.exit_code if last.exit_code is not None else -1,
            duration_ms=last.duration_ms,
            denied_hosts=last.denied.hosts if last.denied is not None else (),
            end_reason=last.end_reason or "",
            output="\n".join(text for text in (stdout, stderr) if text),
            command=_text(command),
            merged=stdout if merge else "",
        )
