# Generated from _async/process.py by `npm run generate`; do not edit.
"""A handle of a process."""

from __future__ import annotations

from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generator, Optional, Type

from .._duration import Duration, exact_seconds
from ..errors import NotFoundError, RequestTimeoutError
from ..messages import Process, ProcessEnd, ProcessEvent, ProcessOutput
from .concurrency import monotonic

if TYPE_CHECKING:
    from .processes import ProcessOperations


class ProcessHandle:
    """A process of a sandbox. As a context manager it deletes the process at its end.

    Attributes:
        offset: Offset of the next byte of output that `output` and `events` have not given yet.
    """

    def __init__(self, client: "ProcessOperations", process: Process) -> None:
        self._client = client
        self._process = process
        self.offset = 0

    @property
    def id(self) -> str:
        """Identifier of the process, unique in its sandbox."""
        return self._process.process_id

    @property
    def info(self) -> Process:
        """The process when it was started or last asked for; see `refresh`."""
        return self._process

    def refresh(self) -> Process:
        """The process now."""
        self._process = self._client.get_process(self._process.sandbox_id, self.id)
        return self._process

    def events(self, offset: Optional[int] = None) -> Generator[ProcessEvent, None, None]:
        """Events from an offset on (None: where the last ones ended) until the process ends. See `watch_process`."""
        start = self.offset if offset is None else offset
        found = self._client.watch_process(self._process.sandbox_id, self.id, start)
        try:
            for event in found:
                self.offset = event.next
                yield event
        finally:
            found.close()

    def output(self, offset: Optional[int] = None) -> Generator[ProcessOutput, None, None]:
        """The output alone, with the stream of each piece. What is no longer kept is missing."""
        found = self.events(offset)
        try:
            for event in found:
                if event.data:
                    yield ProcessOutput(event.stream, event.next - len(event.data), event.data)
        finally:
            found.close()

    def write(self, content: Any, *, offset: Optional[int] = None, end: bool = False) -> int:
        """Writes to standard input; see `write_process_input`. The process must have been started with `stdin`."""
        return self._client.write_process_input(
            self._process.sandbox_id, self.id, content, offset=offset, end=end
        )

    def close_stdin(self) -> None:
        """Closes standard input; types ^D to a terminal."""
        self.write(b"", end=True)

    def signal(self, signal: str = "SIGTERM") -> None:
        """Sends a signal to the process and to all that it started."""
        self._process = self._client.signal_process(self._process.sandbox_id, self.id, signal)

    def kill(self) -> None:
        """Sends SIGKILL."""
        self.signal("SIGKILL")

    def resize(self, columns: int, rows: int) -> None:
        """Changes the size of its terminal."""
        self._client.resize_terminal(self._process.sandbox_id, self.id, columns, rows)

    def wait(self, timeout: Duration = None) -> ProcessEnd:
        """Waits for the end of the process; reads its output past, which stays available.

        `timeout`: time, then `RequestTimeoutError`; the process goes on. None: unlimited.
        """
        limit = None if timeout is None else monotonic() + exact_seconds("timeout", timeout)
        offset = (self.refresh()).output_next
        while True:
            left = 60.0 if limit is None else max(0.0, min(60.0, limit - monotonic()))
            part = self._client.read_process_output(
                self._process.sandbox_id, self.id, offset, max_bytes=1024 * 1024, wait=timedelta(seconds=left)
            )
            offset = part.next
            if part.end is not None:
                return part.end
            if limit is not None and monotonic() >= limit:
                raise RequestTimeoutError(f"process {self.id} has not ended within {timeout}")

    def delete(self) -> None:
        """Ends the process with all that it started, and deletes its output. Does nothing if it is gone."""
        try:
            self._client.delete_process(self._process.sandbox_id, self.id)
        except NotFoundError:
            pass

    def __enter__(self) -> "ProcessHandle":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.delete()
