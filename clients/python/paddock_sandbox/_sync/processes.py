# Generated from _async/processes.py by `npm run generate`; do not edit.
"""Operations on processes: commands that outlive the call that started them."""

from __future__ import annotations

import uuid
from typing import Any, Generator, List, Mapping, Optional

from .._duration import Duration, exact_seconds, seconds
from .._http import body_of
from .._json import decode
from ..messages import (
    ListPortsResponse,
    OpenedPort,
    OpenPortResponse,
    Process,
    ProcessEvent,
    ReadProcessOutputResponse,
    TerminalSize,
    WaitPortResponse,
    WriteProcessInputResponse,
)
from .commands import _GRACE, CommandOperations, Command, _command


class ProcessOperations(CommandOperations):
    """Operations on processes."""

    def start_process(
        self,
        sandbox_id: str,
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
        merge: bool = False,
    ) -> Process:
        """Starts a process, which outlives this call; the caller deletes it.

        `process_id`: unique in the sandbox; None: a random one. Because of it a repeated request starts nothing twice.
        `stdin`: keep standard input open. `timeout`: time until it is killed; None: never. `merge`: standard output
        and error are one stream, in the order in which they were written.
        """
        fields = {
            "sandbox_id": sandbox_id,
            **_command(command),
            "process_id": process_id or f"p-{uuid.uuid4().hex[:16]}",
            "env": env,
            "workdir": workdir,
            "stdin": stdin,
            "terminal": terminal,
            "timeout": seconds("timeout", timeout),
            "labels": labels,
            "shell": shell,
            "merge": merge,
        }
        return self._message(Process, "StartProcess", fields, repeatable=True)

    def get_process(self, sandbox_id: str, process_id: str) -> Process:
        """One process; also one that has ended, until it is deleted or the server's retention time is over."""
        return self._message(
            Process, "GetProcess", {"sandbox_id": sandbox_id, "process_id": process_id}
        )

    def list_processes(
        self, sandbox_id: str, *, labels: Optional[Mapping[str, str]] = None, running: bool = False
    ) -> List[Process]:
        """The processes of a sandbox, the newest first."""
        fields = {"sandbox_id": sandbox_id, "labels": labels, "running": running or None}
        return self._all(Process, "ListProcesses", "processes", fields)

    def delete_process(self, sandbox_id: str, process_id: str) -> None:
        """Ends a process with all that it started, and deletes its output."""
        self._call("DeleteProcess", {"sandbox_id": sandbox_id, "process_id": process_id})

    def signal_process(self, sandbox_id: str, process_id: str, signal: str = "SIGTERM") -> Process:
        """Sends a signal to a process and to all that it started. Changes nothing if it has ended."""
        fields = {"sandbox_id": sandbox_id, "process_id": process_id, "signal": signal}
        return self._message(Process, "SignalProcess", fields)

    def resize_terminal(self, sandbox_id: str, process_id: str, columns: int, rows: int) -> None:
        """Changes the size of a process's terminal."""
        fields = {"sandbox_id": sandbox_id, "process_id": process_id, "columns": columns, "rows": rows}
        self._call("ResizeTerminal", fields)

    def read_process_output(
        self,
        sandbox_id: str,
        process_id: str,
        offset: int = 0,
        *,
        max_bytes: Optional[int] = None,
        wait: Duration = None,
    ) -> ReadProcessOutputResponse:
        """Kept output from an offset on. `wait`: time to wait, up to a minute, if there is none yet."""
        fields = {
            "sandbox_id": sandbox_id,
            "process_id": process_id,
            "offset": offset,
            "max_bytes": max_bytes,
            "wait": int(exact_seconds("wait", wait) * 1000),
        }
        # The service says nothing while it waits, which may be longer than the client's time limit.
        limit = exact_seconds("wait", wait) + _GRACE if wait else -1
        return self._message(ReadProcessOutputResponse, "ReadProcessOutput", fields, timeout=limit)

    def watch_process(
        self, sandbox_id: str, process_id: str, offset: int = 0
    ) -> Generator[ProcessEvent, None, None]:
        """Output from an offset on, and further output as it is written. The last event has `end`.

        Goes on where it was after a cut connection. Leaving the loop does not affect the process.
        """
        fields = {"sandbox_id": sandbox_id, "process_id": process_id, "offset": offset}
        messages = self._watched("WatchProcess", fields, "offset", "next")
        try:
            for message in messages:
                yield decode(ProcessEvent, message)
        finally:
            messages.close()

    def write_process_input(
        self,
        sandbox_id: str,
        process_id: str,
        content: Any,
        *,
        offset: Optional[int] = None,
        end: bool = False,
    ) -> int:
        """Writes to standard input or the terminal, at the pace at which the process reads.

        `content`: text, bytes, an iterator of bytes or a binary file. `offset`: of its first byte in the whole input;
        with it a repeated call writes nothing twice, so it is repeated after a cut connection. `end`: close standard
        input afterwards. Returns the offset of the next byte.
        """
        fields = {"sandbox_id": sandbox_id, "process_id": process_id, "offset": offset, "end": end or None}
        answer = self._message(
            WriteProcessInputResponse,
            "WriteProcessInput",
            fields,
            body=body_of(content),
            timeout=None,
            repeatable=offset is not None,
        )
        return answer.input_next

    def wait_port(
        self, sandbox_id: str, port: int = 0, timeout: Duration = None
    ) -> WaitPortResponse:
        """The TCP ports on which programs of the sandbox listen.

        `port`: only this one; 0: all. `timeout`: time to wait for it, up to 10 minutes; if nobody listens then, the
        answer's `listening` is False, which is no error.
        """
        wait = exact_seconds("timeout", timeout)
        fields = {"sandbox_id": sandbox_id, "port": port, "wait": int(wait * 1000)}
        return self._message(WaitPortResponse, "WaitPort", fields, timeout=wait + _GRACE)

    def open_port(
        self, sandbox_id: str, port: int, *, access: str = "key", expires_in: Duration = None
    ) -> OpenPortResponse:
        """Opens a TCP port of the sandbox, and returns where it is reached.

        `access`: "key", or "link" for everybody who has the `link_token` of the answer. `expires_in`: None:
        until it is closed. A port that is open already is replaced: its token and connections end.
        """
        until = seconds("expires_in", expires_in)
        fields = {"sandbox_id": sandbox_id, "port": port, "access": access, "expires_in": until}
        return self._message(OpenPortResponse, "OpenPort", fields)

    def list_ports(self, sandbox_id: str, *, listening: bool = False) -> ListPortsResponse:
        """The opened ports of the sandbox; with `listening` also the numbers of those that programs listen on."""
        fields = {"sandbox_id": sandbox_id, "opened": True, "listening": listening or None}
        return self._message(ListPortsResponse, "ListPorts", fields)

    def get_port(self, sandbox_id: str, port: int) -> OpenedPort:
        """One opened port."""
        return self._message(OpenedPort, "GetPort", {"sandbox_id": sandbox_id, "port": port})

    def close_port(self, sandbox_id: str, port: int) -> None:
        """Closes a port: its link token is not valid any more, and its connections are cut."""
        self._call("ClosePort", {"sandbox_id": sandbox_id, "port": port})
