"""HTTP/1.1 over asyncio's streams.

Threads would limit the number of calls at a time (`asyncio.to_thread` has a handful of them), and a cancelled task
could not end its command: here it closes its connection, and the server ends the command.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, AsyncGenerator, AsyncIterator, Callable, Dict, List, Optional, Tuple, TypeVar, Union

from .._http import IDLE, PIECE, Body, Request, tune
from .._settings import Settings
from .._within import within
from ..errors import ConnectionError, NotConnectedError, RequestTimeoutError, SandboxError

T = TypeVar("T")

sleep = asyncio.sleep
monotonic = time.monotonic
#: Bytes of the head of an answer.
_HEAD = 1024 * 1024


async def in_thread(work: Callable[..., T], *arguments: Any) -> T:
    """Runs work on files in a thread, so that other tasks go on."""
    return await asyncio.to_thread(work, *arguments)


class _Connection:
    """A connection, and the loop that it belongs to: tasks of another one cannot use it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.loop = asyncio.get_running_loop()
        self.idle_since = 0.0

    @property
    def usable(self) -> bool:
        # What came after the last answer belongs to no request. The streams have no other way to ask for it.
        stale = bool(getattr(self.reader, "_buffer", b""))
        return not (stale or self.expired or self.reader.at_eof() or self.writer.is_closing())

    @property
    def expired(self) -> bool:
        return time.monotonic() - self.idle_since >= IDLE

    def close(self) -> None:
        if self.loop.is_closed():
            return
        if self.writer.transport.get_write_buffer_size() > 0:
            # `close` sends the rest of a body first, and waits for a server that does not read it.
            self.writer.transport.abort()
        else:
            self.writer.close()


class AsyncAnswer:
    """An answer whose body is still to be read. Whoever has it reads it to the end or closes it."""

    def __init__(
        self,
        transport: "AsyncTransport",
        connection: _Connection,
        head: Tuple[int, Dict[str, str]],
        request: Request,
        complete: bool,
    ) -> None:
        self.status, self.headers = head
        self._transport = transport
        self._connection: Optional[_Connection] = connection
        self._timeout = request.timeout
        self._reusable = complete and self.headers.get("connection", "").lower() != "close"
        self._bodiless = request.method == "HEAD" or self.status in (204, 304)

    async def read(self) -> bytes:
        """The whole body."""
        return b"".join([piece async for piece in self.pieces()])

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The body as it arrives."""
        try:
            if not self._bodiless:
                parts = (
                    self._chunks()
                    if "chunked" in self.headers.get("transfer-encoding", "")
                    else self._counted()
                )
                async for piece in parts:
                    yield piece
            if self._connection is not None and self._reusable:
                self._transport.keep(self._connection)
                self._connection = None
        except (OSError, EOFError, ValueError, asyncio.TimeoutError) as error:
            if isinstance(error, SandboxError):
                raise
            raise self._transport.cut(error) from error
        finally:
            await self.aclose()

    async def _chunks(self) -> AsyncIterator[bytes]:
        assert self._connection is not None
        reader = self._connection.reader
        while True:
            line = await within(reader.readuntil(b"\r\n"), self._timeout)
            left = int(line.split(b";")[0], 16)
            if left == 0:
                while await within(reader.readuntil(b"\r\n"), self._timeout) != b"\r\n":
                    pass
                return
            async for piece in self._exactly(left):
                yield piece
            await within(reader.readexactly(2), self._timeout)

    async def _counted(self) -> AsyncIterator[bytes]:
        length = self.headers.get("content-length")
        if length is not None:
            async for piece in self._exactly(int(length)):
                yield piece
            return
        self._reusable = False
        assert self._connection is not None
        while True:
            piece = await within(self._connection.reader.read(PIECE), self._timeout)
            if not piece:
                return
            yield piece

    async def _exactly(self, left: int) -> AsyncIterator[bytes]:
        assert self._connection is not None
        reader = self._connection.reader
        while left > 0:
            piece = await within(reader.read(min(left, PIECE)), self._timeout)
            if not piece:
                raise EOFError("the answer is incomplete")
            left -= len(piece)
            yield piece

    async def aclose(self) -> None:
        """Closes the connection unless the body was read; the server ends what it was doing for the call."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class AsyncTransport:
    """Sends requests of any number of tasks, each over a connection of its own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._idle: List[_Connection] = []
        self._closed = False

    async def send(self, request: Request) -> AsyncAnswer:
        """The head of the answer."""
        connection = await self._connection()
        try:
            head, complete = await self._exchange(connection, request)
            return AsyncAnswer(self, connection, head, request, complete)
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError, asyncio.TimeoutError) as error:
            connection.close()
            if isinstance(error, SandboxError):
                raise
            raise self.cut(error) from error
        except BaseException:
            connection.close()
            raise

    def cut(self, error: Exception) -> ConnectionError:
        """The exception for an error of a connection that was made."""
        if isinstance(error, (asyncio.TimeoutError, TimeoutError)):
            failed: ConnectionError = RequestTimeoutError(f"{self._settings.endpoint} did not answer in time")
        else:
            failed = ConnectionError(f"the connection to {self._settings.endpoint} was cut: {error!r}")
        failed.endpoint = self._settings.endpoint
        return failed

    def keep(self, connection: _Connection) -> None:
        """Takes a connection back whose answer was read."""
        if self._closed:
            connection.close()
            return
        connection.idle_since = time.monotonic()
        self._idle.append(connection)
        # The last one is used first: those that many calls at a time have left would never be closed.
        while self._idle[0].expired:
            self._idle.pop(0).close()

    async def aclose(self) -> None:
        """Closes the connections that are not in use."""
        self._closed = True
        idle, self._idle = self._idle, []
        loop = asyncio.get_running_loop()
        for connection in idle:
            connection.close()
        await asyncio.gather(
            *(each.writer.wait_closed() for each in idle if each.loop is loop), return_exceptions=True
        )
        # Those that were closed before are gone after one more turn of the loop.
        await asyncio.sleep(0)

    async def _connection(self) -> _Connection:
        if self._closed:
            raise SandboxError("the client is closed")
        loop = asyncio.get_running_loop()
        while self._idle:
            connection = self._idle.pop()
            if connection.loop is loop and connection.usable:
                return connection
            connection.close()
        return await self._connect()

    async def _connect(self) -> _Connection:
        settings = self._settings
        opening = asyncio.open_connection(settings.host, settings.port, ssl=settings.tls, limit=_HEAD)
        try:
            reader, writer = await within(opening, settings.connect_timeout)
            tune(writer.get_extra_info("socket"))
            return _Connection(reader, writer)
        except (OSError, asyncio.TimeoutError) as error:
            failed = NotConnectedError(f"cannot connect to {settings.endpoint}: {error!r}")
            failed.endpoint = settings.endpoint
            raise failed from error

    async def _exchange(
        self, connection: _Connection, request: Request
    ) -> Tuple[Tuple[int, Dict[str, str]], bool]:
        """The head of the answer, and whether the whole body of the request was sent before it."""
        body = request.body
        headers = dict(request.headers)
        if isinstance(body, Body):
            headers["Transfer-Encoding"] = "chunked"
        elif body is not None or request.method in ("POST", "PUT", "PATCH"):
            headers["Content-Length"] = str(len(body or b""))
        lines = [
            f"{request.method} {request.target} HTTP/1.1",
            *(f"{k}: {v}" for k, v in headers.items()),
            "",
            "",
        ]
        start = "\r\n".join(lines).encode("latin-1")
        if body is None or (isinstance(body, bytes) and len(body) <= PIECE):
            await _put(connection.writer, start + (body or b""), request.timeout)
            return await within(_head(connection.reader), request.timeout), True
        connection.writer.write(start)
        return await self._upload(connection, body, request.timeout)

    async def _upload(
        self, connection: _Connection, body: Union[bytes, Body], timeout: Optional[float]
    ) -> Tuple[Tuple[int, Dict[str, str]], bool]:
        # The server may refuse the body before its end: the answer is awaited meanwhile.
        head = asyncio.ensure_future(_head(connection.reader))
        sending = asyncio.ensure_future(_send(connection.writer, body, timeout))
        try:
            await asyncio.wait({head, sending}, return_when=asyncio.FIRST_COMPLETED)
            complete = sending.done() and sending.exception() is None
            if sending.done():
                error = sending.exception()
                if error is not None and not isinstance(error, (BrokenPipeError, ConnectionResetError)):
                    raise error
            return await within(head, timeout), complete
        finally:
            for task in (head, sending):
                task.cancel()
            await asyncio.gather(head, sending, return_exceptions=True)


async def _put(writer: asyncio.StreamWriter, data: bytes, timeout: Optional[float]) -> None:
    writer.write(data)
    await within(writer.drain(), timeout)


async def _send(writer: asyncio.StreamWriter, body: Union[bytes, Body], timeout: Optional[float]) -> None:
    if isinstance(body, bytes):
        for at in range(0, len(body), PIECE):
            await _put(writer, body[at : at + PIECE], timeout)
        return
    pieces = body.pieces()
    while True:
        piece = await asyncio.to_thread(next, pieces, None)
        if piece is None:
            break
        if piece:
            await _put(writer, b"%x\r\n%s\r\n" % (len(piece), piece), timeout)
    await _put(writer, b"0\r\n\r\n", timeout)


async def _head(reader: asyncio.StreamReader) -> Tuple[int, Dict[str, str]]:
    while True:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        version, status = first.split(" ", 2)[:2]
        if not version.startswith("HTTP/1."):
            raise ValueError(f"not an answer of HTTP/1.1: {first[:50]!r}")
        if int(status) >= 200:
            break
    headers = [line.partition(":") for line in lines if line]
    return int(status), {name.strip().lower(): value.strip() for name, _, value in headers}
