# Generated from _async/run.py by `npm run generate`; do not edit.
"""Commands with the text of their output."""

from __future__ import annotations

from typing import Generator, Callable, Optional

from .._http import Command
from .._kept import Output
from .._output import CommandEvent, Texts, events_of
from ..errors import CommandTimeoutError
from ..messages import ExecStreamChunk
from ..result import CommandResult

#: Is called with output as it is written. No character is divided.
Tell = Optional[Callable[[str], object]]


def events(chunks: Generator[ExecStreamChunk, None]) -> Generator[CommandEvent, None, None]:
    """What the chunks say."""
    texts = Texts()
    try:
        for chunk in chunks:
            for event in events_of(chunk, texts):
                yield event
    finally:
        chunks.close()


def told(
    found: Generator[CommandEvent, None, None], command: Command, output: Output, on_stdout: Tell, on_stderr: Tell
) -> CommandResult:
    """The result of a command, whose output is told meanwhile."""
    tell = {"stdout": on_stdout, "stderr": on_stderr}
    event = CommandEvent("exit")
    try:
        for event in found:
            if event.type == "exit":
                break
            output.append(event)
            listener = tell[event.type]
            if listener is not None and event.text:
                listener(event.text)
    except CommandTimeoutError as error:
        error.stdout, error.stderr, error.output = output.texts()
        raise
    finally:
        # Also after an exception of a callback, which ends the command.
        found.close()
    return output.result(event, command)
