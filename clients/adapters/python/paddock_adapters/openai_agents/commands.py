"""The commands of a session that go on after the call that started them."""

from __future__ import annotations

import asyncio
import codecs
import math
import time
from contextlib import aclosing, suppress
from datetime import timedelta
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

from agents.sandbox.errors import PtySessionNotFoundError
from agents.sandbox.session.pty_types import (
    PTY_PROCESSES_MAX,
    allocate_pty_process_id,
    process_id_to_prune_from_meta,
)
from paddock_sandbox import (
    AsyncProcess,
    AsyncSandbox,
    NotFoundError,
    FailedPreconditionError,
    ProcessEnd,
    PaddockError,
    TerminalSize,
)

from ..shared import Excerpt, settled, within

Answer = Tuple[str, Optional[ProcessEnd]]


class _Running:
    """A command whose output is read piece by piece."""

    def __init__(self, process: AsyncProcess, tty: bool) -> None:
        self.process = process
        self.tty = tty
        self.last_used = time.monotonic()
        self._offset = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._lock = asyncio.Lock()

    async def read(self, seconds: float, note: str = "") -> Answer:
        """The output since the last call, until the end of the command or for so many seconds.

        A caller that is cancelled loses none of it: the next one has it.
        """
        async with self._lock:
            self.last_used = time.monotonic()
            offset, state = self._offset, self._decoder.getstate()
            output = Excerpt()
            output.append(note)
            try:
                end = await within(self._collect(output, time.monotonic() + seconds), seconds)
            except PaddockError:
                # One of them is a TimeoutError.
                raise
            except asyncio.TimeoutError:
                end = None
            except BaseException:
                self._offset = offset
                self._decoder.setstate(state)
                raise
            return output.text(), end

    async def _collect(self, output: Excerpt, until: float) -> Optional[ProcessEnd]:
        async with aclosing(self.process.output(self._offset)) as parts:
            async for part in parts:
                self._offset = part.next
                if part.type == "gap":
                    output.append(f"\n[{part.missing} bytes of output are no longer kept]\n")
                # A character that is divided between two calls comes with the second one.
                output.append(self._decoder.decode(part.data))
                # Without a pause while there is always more to read, the time would never be looked at.
                if time.monotonic() >= until:
                    return None
        end = await self.process.wait()
        output.append(self._decoder.decode(b"", final=True))
        if end.reason not in ("exited", "signaled"):
            output.append(f"\n[the command ended: {end.reason}]\n")
        return end

    async def type(self, text: str, seconds: float) -> str:
        """Writes to the terminal. Returns what is to be said of it."""
        try:
            await within(self.process.write(text.encode(errors="replace")), seconds)
        except (FailedPreconditionError, NotFoundError):
            # It has ended: its output says how.
            return ""
        except PaddockError:
            raise
        except asyncio.TimeoutError:
            return "[the command did not read all of the input]\n"
        return ""


class Commands:
    def __init__(self) -> None:
        self._running: Dict[int, _Running] = {}

    async def start(
        self,
        sandbox: AsyncSandbox,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        tty: bool,
        timeout: Optional[float],
        seconds: float,
    ) -> Tuple[Optional[int], Answer]:
        """Runs a command until it ends, or for so many seconds: it has a number then, and goes on.

        It is killed if the caller is cancelled, who does not get the number.
        """
        limit = None if timeout is None else timedelta(seconds=math.ceil(timeout))
        output: Dict[str, Any] = {"terminal": TerminalSize(80, 24)} if tty else {"merge": True}
        starting = asyncio.ensure_future(sandbox.start(argv, env=env, timeout=limit, **output))
        running = None
        try:
            running = _Running(await settled(starting), tty)
            answer = await running.read(seconds)
        except BaseException:
            if starting.done() and not starting.cancelled() and starting.exception() is None:
                await settled(asyncio.ensure_future(_deleted(starting.result())))
            raise
        if answer[1] is not None:
            await _deleted(running.process)
            return None, answer
        number = allocate_pty_process_id(set(self._running))
        self._running[number] = running
        await self._prune()
        return number, answer

    async def write(self, number: int, text: str, seconds: float) -> Tuple[Optional[int], Answer]:
        running = self._running.get(number)
        if running is None:
            raise PtySessionNotFoundError(session_id=number)
        note = ""
        if text:
            if not running.tty:
                # The tool of the framework knows this message.
                raise RuntimeError("stdin is not available for this process")
            note = await running.type(text, seconds)
        try:
            answer = await running.read(seconds, note)
        except NotFoundError as error:
            # It is no longer kept, or another call has had its end.
            self._running.pop(number, None)
            raise PtySessionNotFoundError(session_id=number, cause=error) from error
        if answer[1] is None:
            return number, answer
        self._running.pop(number, None)
        await _deleted(running.process)
        return None, answer

    async def _prune(self) -> None:
        if len(self._running) <= PTY_PROCESSES_MAX:
            return
        oldest = process_id_to_prune_from_meta(
            [(number, each.last_used, False) for number, each in self._running.items()]
        )
        if oldest is not None:
            await _deleted(self._running.pop(oldest).process)

    async def end(self) -> None:
        """Kills all of them."""
        running, self._running = self._running, {}
        for each in running.values():
            await settled(asyncio.ensure_future(_deleted(each.process)))


async def _deleted(process: AsyncProcess) -> None:
    """With its output; what cannot be deleted ends with the sandbox."""
    with suppress(PaddockError):
        await process.delete()
