# Generated from _async/run.py by `npm run generate`; do not edit.
"""Commands with the text of their output."""

from __future__ import annotations

from codecs import getincrementaldecoder
from typing import Generator, Callable, List, Optional

from .._http import Command
from ..errors import CommandTimeoutError
from ..messages import ExecStreamChunk, OutputStream
from ..result import CommandResult, text_of

#: Is called with output as it is written. No character is divided.
Tell = Optional[Callable[[str], object]]


def told(
    chunks: Generator[ExecStreamChunk, None, None], command: Command, on_stdout: Tell, on_stderr: Tell
) -> CommandResult:
    """The result of a command, whose output is told meanwhile."""
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
    return collected.result(command)


class _Collected:
    """The output of a stream."""

    def __init__(self, on_stdout: Tell, on_stderr: Tell) -> None:
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

    def result(self, command: Command) -> CommandResult:
        last = self._pieces[-1]
        stdout, stderr = self.text(OutputStream.STDOUT), self.text(OutputStream.STDERR)
        return CommandResult(
            stdout=stdout,
            stderr=stderr,
            exit_code=last.exit_code if last.exit_code is not None else -1,
            duration_ms=last.duration_ms,
            denied_hosts=last.denied.hosts if last.denied is not None else (),
            end_reason=last.end_reason or "",
            output="\n".join(text for text in (stdout, stderr) if text),
            session_ended=last.session_ended or False,
            session_reset=last.session_reset or False,
            command=text_of(command),
        )
