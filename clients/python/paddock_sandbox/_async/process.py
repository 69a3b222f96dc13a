"""A process of a sandbox."""

from __future__ import annotations

from datetime import timedelta
from math import ceil
from typing import AsyncGenerator, TypedDict, Unpack

from .._arguments import known_options
from .._duration import Duration, exact_seconds
from .._http import Content
from .._output import ProcessOutput, Texts, parts_of
from .._removal import removal
from ..errors import RequestTimeoutError
from ..messages import Process as ProcessInfo
from ..messages import ProcessEnd
from ..requests import CallOptions, WriteProcessInputRequest
from .api import AsyncApi
from .concurrency import monotonic


@known_options
class AsyncProcess:
    """A process of a sandbox. As a context manager it deletes the process at its end.

    Attributes:
        info: The process when it was started or last asked for; see `refresh`.
    """

    def __init__(self, api: AsyncApi, info: ProcessInfo) -> None:
        self._api = api
        self.info = info

    @property
    def id(self) -> str:
        """Identifier of the process, unique in its sandbox."""
        return self.info.process_id

    @property
    def _of(self) -> "_Of":
        return {"sandbox_id": self.info.sandbox_id, "process_id": self.id}

    async def refresh(self, **options: Unpack[CallOptions]) -> ProcessInfo:
        """The process now."""
        self.info = await self._api.get_process(**self._of, **options)
        return self.info

    async def output(self, offset: int = 0, **options: Unpack[CallOptions]) -> AsyncGenerator[ProcessOutput, None]:
        """The output from an offset on, until the process ends; 0: all of it.

        Goes on where it was after a cut connection. Leaving the loop does not affect the process.
        """
        texts = Texts()
        found = self._api.watch_process(**self._of, offset=offset, **options)
        try:
            async for event in found:
                for part in parts_of(event, texts):
                    yield part
        finally:
            await found.aclose()

    async def write(self, content: Content, **options: Unpack[WriteProcessInputRequest]) -> int:
        """Writes to standard input or the terminal, at the pace at which the process reads.

        It must have been started with `stdin`. `offset`: of the first byte in the whole input; with it a repeated call
        writes nothing twice, so it is repeated after a cut connection. `end`: close standard input afterwards. Returns
        the offset of the next byte.
        """
        return (await self._api.write_process_input(content, **self._of, **options)).input_next

    async def close_stdin(self) -> None:
        """Closes standard input; types ^D to a terminal."""
        await self.write(b"", end=True)

    async def signal(self, signal: str = "SIGTERM", **options: Unpack[CallOptions]) -> None:
        """Sends a signal to the process and to all that it started."""
        self.info = await self._api.signal_process(**self._of, signal=signal, **options)

    async def kill(self, **options: Unpack[CallOptions]) -> None:
        """Sends SIGKILL."""
        await self.signal("SIGKILL", **options)

    async def resize(self, columns: int, rows: int, **options: Unpack[CallOptions]) -> None:
        """Changes the size of its terminal."""
        await self._api.resize_terminal(**self._of, columns=columns, rows=rows, **options)

    async def wait(self, timeout: Duration = None) -> ProcessEnd:
        """Waits for the end of the process; reads its output past, which stays available.

        `timeout`: time in all, then `RequestTimeoutError`; the process goes on. None: unlimited.
        """
        limit = None if timeout is None else monotonic() + exact_seconds("timeout", timeout)
        offset = (await self.refresh()).output_next
        while True:
            left = 60.0 if limit is None else max(0.0, min(60.0, limit - monotonic()))
            part = await self._api.read_process_output(
                **self._of, offset=offset, max_bytes=1024 * 1024, wait=timedelta(milliseconds=ceil(left * 1000))
            )
            offset = part.next
            if part.end is not None:
                return part.end
            if limit is not None and monotonic() >= limit:
                raise RequestTimeoutError(f"process {self.id} has not ended within {timeout}")

    async def delete(self, **options: Unpack[CallOptions]) -> None:
        """Ends the process with all that it started, and deletes its output. Does nothing if it is gone."""
        with removal():
            await self._api.delete_process(**self._of, **options)

    async def __aenter__(self) -> "AsyncProcess":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.delete()


class _Of(TypedDict):
    sandbox_id: str
    process_id: str
