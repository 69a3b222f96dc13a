"""The output of a command that is read as it is written, as Exec keeps it."""

from __future__ import annotations

import re
from typing import Optional, Tuple

from ._http import Command
from ._output import CommandEvent
from .result import CommandResult, text_of

#: Bytes of each stream that are kept without `max_output`.
_KEPT = 8 * 1024 * 1024


class Kept:
    """The beginning and, with `tail`, the end of a stream of bytes."""

    def __init__(self, limit: int, tail: bool) -> None:
        self._tail_limit = limit // 2 if tail else 0
        self._head_limit = limit - self._tail_limit
        self._head = bytearray()
        self._tail = bytearray()
        self.dropped = 0

    def append(self, data: bytes) -> None:
        """Takes the next bytes."""
        room = self._head_limit - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        excess = len(self._tail) - self._tail_limit
        if excess > 0:
            self.dropped += excess
            del self._tail[:excess]

    def text(self) -> str:
        """Divided characters at the cut are left out."""
        if not self.dropped:
            return (self._head + self._tail).decode("utf-8", "replace")
        head = re.sub("\ufffd$", "", self._head.decode("utf-8", "replace"))
        tail = re.sub("^\ufffd{1,3}", "", self._tail.decode("utf-8", "replace"))
        return f"{head}\n[{self.dropped} bytes left out]\n{tail}"


class Output:
    """Both streams of a command."""

    def __init__(self, max_output: Optional[int], merge: Optional[bool]) -> None:
        part = _KEPT if max_output is None else max_output if merge else max_output // 2
        self._merge = merge
        self._kept = {each: Kept(part, max_output is not None) for each in ("stdout", "stderr")}

    def append(self, event: CommandEvent) -> None:
        """Takes the output of an event."""
        self._kept[event.type].append(event.data)

    def texts(self) -> Tuple[str, str, str]:
        """Standard output, standard error, and both."""
        stdout, stderr = self._kept["stdout"].text(), self._kept["stderr"].text()
        return ("", "", stdout) if self._merge else (stdout, stderr, stdout + stderr)

    def result(self, end: CommandEvent, command: Command) -> CommandResult:
        """The result of the command."""
        out, err = self._kept["stdout"].dropped, self._kept["stderr"].dropped
        stdout, stderr, both = self.texts()
        return CommandResult(
            stdout=stdout,
            stderr=stderr,
            output=both,
            command=text_of(command),
            exit_code=end.exit_code or 0,
            duration_ms=end.duration_ms,
            end_reason=end.end_reason,
            denied_hosts=end.denied_hosts,
            session_ended=end.session_ended,
            session_reset=end.session_reset,
            output_truncated=out + err > 0,
            stdout_dropped_bytes=0 if self._merge else out,
            stderr_dropped_bytes=err,
            output_dropped_bytes=out if self._merge else 0,
        )
