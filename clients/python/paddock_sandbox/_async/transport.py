"""Sends requests with httpx, without its `Client`: no cookies, no redirects, no decompression."""

from __future__ import annotations

from typing import Any, AsyncGenerator, AsyncIterator, Optional

import httpcore
import httpx

from .._http import PIECE, Body, Request, pool_options
from .._settings import Settings
from ..errors import ConnectionFailedError, FailedPreconditionError, RequestTimeoutError
from .concurrency import each_of, running_loop


class AsyncAnswer:
    """An answer whose body is still to be read. Whoever has it reads it to the end or closes it."""

    def __init__(self, transport: "AsyncTransport", response: httpx.Response) -> None:
        self._transport = transport
        self._response = response
        self.status = response.status_code
        self.headers = response.headers

    async def read(self) -> bytes:
        """The whole body."""
        return b"".join([piece async for piece in self.pieces()])

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The body as it arrives."""
        assert isinstance(self._response.stream, httpx.AsyncByteStream)
        try:
            async for piece in self._response.stream:
                yield piece
        except httpx.TransportError as error:
            raise self._transport.cut(error) from error
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """Closes the connection unless the body was read; the server ends what it was doing for the call."""
        await self._response.aclose()


class AsyncTransport:
    """Sends requests at the same time, each over a connection of its own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._origin = settings.origin
        self._closed = False
        self._keeps = True
        self._open()

    def _open(self) -> None:
        self._loop = running_loop()
        self._calls = httpx.AsyncHTTPTransport(**pool_options(self._settings))
        # A connection of its own for each: what can be read of it then is the answer.
        self._uploads = httpx.AsyncHTTPTransport(**pool_options(self._settings, keep=0))

    async def send(self, request: Request) -> AsyncAnswer:
        """The head of the answer."""
        if self._closed:
            raise FailedPreconditionError("the client is closed")
        self._belong()
        large = isinstance(request.body, Body) or (request.body is not None and len(request.body) > PIECE)
        try:
            if large:
                response = await self._uploads.handle_async_request(self._upload(request))
            else:
                pool = self._calls if self._keeps else self._uploads
                response = await pool.handle_async_request(self._request(request, content=request.body))
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            failed = ConnectionFailedError(f"cannot connect to {self._settings.endpoint}: {error or error!r}")
            failed.endpoint, failed.unsent = self._settings.endpoint, True
            raise failed from error
        except httpx.TransportError as error:
            raise self.cut(error) from error
        return AsyncAnswer(self, response)

    def _request(self, request: Request, **more: Any) -> httpx.Request:
        wait = request.timeout
        extensions = {
            "timeout": {"connect": self._settings.connect_timeout, "read": wait, "write": wait, "pool": None},
            **more.pop("extensions", {}),
        }
        url = self._origin + request.target
        return httpx.Request(request.method, url, headers=request.headers, extensions=extensions, **more)

    def _upload(self, request: Request) -> httpx.Request:
        connection: Optional[Any] = None

        async def trace(event: str, info: Any) -> None:
            nonlocal connection
            if event == "connection.connect_tcp.complete":
                connection = info["return_value"]

        async def content() -> AsyncIterator[bytes]:
            async for piece in each_of(request.body):
                # What can be read of TLS need not be an answer: the server sends tickets for later connections.
                if self._settings.tls is None and connection and connection.get_extra_info("is_readable"):
                    # httpcore sends no more, and reads the answer.
                    raise httpcore.WriteError("the server answered before the end of the body")
                yield piece

        if isinstance(request.body, bytes):
            request.headers["Content-Length"] = str(len(request.body))
        return self._request(request, content=content(), extensions={"trace": trace})

    def cut(self, error: Exception) -> ConnectionFailedError:
        """The exception for an error of a connection that was made."""
        if isinstance(error, httpx.TimeoutException):
            failed: ConnectionFailedError = RequestTimeoutError(f"{self._settings.endpoint} did not answer in time")
        else:
            failed = ConnectionFailedError(f"the connection to {self._settings.endpoint} was cut: {error!r}")
        failed.endpoint = self._settings.endpoint
        return failed

    async def aclose(self) -> None:
        """Closes all connections. Calls afterwards fail."""
        self._closed = True
        await self.release()

    async def release(self) -> None:
        """Closes all connections. Of a call afterwards the connection is closed with its answer."""
        self._keeps = False
        self._belong()
        await self._calls.aclose()
        await self._uploads.aclose()

    def _belong(self) -> None:
        # Connections end with the event loop that made them.
        if self._loop is not running_loop():
            self._open()
