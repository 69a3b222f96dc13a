"""Output of commands and processes, as it is written."""

from __future__ import annotations

import dataclasses
from codecs import IncrementalDecoder, getincrementaldecoder
from typing import Dict, Iterator, Optional, Tuple

from .messages import DeniedHost, ExecStreamChunk, ProcessEvent

_decoder = getincrementaldecoder("utf-8")


@dataclasses.dataclass(frozen=True)
class CommandEvent:
    """Output of a command; the last event is its end, of type "exit".

    Attributes:
        type: "stdout", "stderr" or "exit".
        data: The bytes.
        text: Whole characters only: the rest of one comes with the next event.
        exit_code: At the end; 128+N if signal N ended the command.
        duration_ms: At the end: run time in milliseconds.
        end_reason: At the end: "exited", "signaled" or "out_of_memory".
        session_ended: At the end: the shell of the session ended with this command.
        session_reset: At the end: the command was the first one of a new shell.
        denied_hosts: At the end: connections that were refused meanwhile.
    """

    type: str
    data: bytes = b""
    text: str = ""
    exit_code: Optional[int] = None
    duration_ms: int = 0
    end_reason: str = ""
    session_ended: bool = False
    session_reset: bool = False
    denied_hosts: Tuple[DeniedHost, ...] = ()


@dataclasses.dataclass(frozen=True)
class ProcessOutput:
    """A part of the output of a process, or bytes of it that are no longer kept.

    Attributes:
        type: "stdout", "stderr", "terminal" or "gap".
        next: Offset after this part: a reader that starts there goes on with the next one.
        data: The bytes.
        text: Whole characters only: the rest of one comes with the next part.
        missing: Of a gap: how many bytes are no longer kept.
    """

    type: str
    next: int
    data: bytes = b""
    text: str = ""
    missing: int = 0


class Texts:
    """The text of each stream, without divided characters."""

    def __init__(self) -> None:
        self._decoders: Dict[str, IncrementalDecoder] = {}

    def of(self, stream: str, data: bytes) -> str:
        """What is complete."""
        return self._decoders.setdefault(stream, _decoder("replace")).decode(data)

    def rests(self) -> Iterator[Tuple[str, str]]:
        """What was held back, and is forgotten."""
        for stream, decoder in self._decoders.items():
            text = decoder.decode(b"", True)
            decoder.reset()
            if text:
                yield stream, text


def events_of(chunk: ExecStreamChunk, texts: Texts) -> Iterator[CommandEvent]:
    """What a chunk of a command's stream says."""
    if chunk.exit_code is None:
        yield CommandEvent(chunk.stream, chunk.data, texts.of(chunk.stream, chunk.data))
        return
    for stream, text in texts.rests():
        yield CommandEvent(stream, text=text)
    yield CommandEvent(
        "exit",
        exit_code=chunk.exit_code,
        duration_ms=chunk.duration_ms,
        end_reason=chunk.end_reason or "",
        session_ended=chunk.session_ended or False,
        session_reset=chunk.session_reset or False,
        denied_hosts=chunk.denied.hosts if chunk.denied is not None else (),
    )


def parts_of(event: ProcessEvent, texts: Texts) -> Iterator[ProcessOutput]:
    """What an event of a process says of its output."""
    if event.gap or event.end is not None:
        # A character that a gap or the end has cut.
        for stream, text in texts.rests():
            yield ProcessOutput(stream, event.next - event.gap, text=text)
    if event.gap:
        yield ProcessOutput("gap", event.next, missing=event.gap)
    elif event.data:
        yield ProcessOutput(event.stream, event.next, event.data, texts.of(event.stream, event.data))
