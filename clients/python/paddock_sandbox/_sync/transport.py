"""HTTP/1.1 over http.client, with connections that are used again."""

from __future__ import annotations

import http.client
import selectors
import socket
import ssl
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, TypeVar, Union

from .._http import IDLE, PIECE, Body, Request, tune
from .._settings import Settings
from ..errors import ConnectionError, NotConnectedError, RequestTimeoutError, SandboxError

T = TypeVar("T")

sleep = time.sleep
monotonic = time.monotonic


def in_thread(work: Callable[..., T], *arguments: Any) -> T:
    """Runs work on files. The asynchronous client does it in a thread."""
    return work(*arguments)


class _EarlyAnswer(Exception):
    """The server answered before the end of the body."""


class Answer:
    """An answer whose body is still to be read. Whoever has it reads it to the end or closes it."""

    def __init__(
        self, transport: "Transport", connection: http.client.HTTPConnection, reusable: bool
    ) -> None:
        self._transport = transport
        self._connection: Optional[http.client.HTTPConnection] = connection
        self._reusable = reusable
        self._response = connection.getresponse()
        self.status = self._response.status
        self.headers: Dict[str, str] = {name.lower(): value for name, value in self._response.getheaders()}

    def read(self) -> bytes:
        """The whole body."""
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        """The body as it arrives."""
        try:
            while True:
                piece = self._next()
                if not piece:
                    break
                yield piece
            self._release()
        finally:
            self.close()

    def _next(self) -> bytes:
        try:
            piece = self._response.read1(PIECE)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._transport.cut(error) from error
        if not piece and self._response.length:
            raise self._transport.cut(EOFError("the answer is incomplete"))
        return piece

    def _release(self) -> None:
        if self._connection is not None and self._reusable and not self._response.will_close:
            # read1 leaves a counted body open.
            self._response.close()
            self._transport.keep(self._connection)
            self._connection = None

    def close(self) -> None:
        """Closes the connection unless the body was read; the server ends what it was doing for the call."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Transport:
    """Sends requests of any number of threads, each over a connection of its own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._idle: List[Tuple[http.client.HTTPConnection, float]] = []
        self._lock = threading.Lock()
        self._closed = False

    def send(self, request: Request) -> Answer:
        """The head of the answer."""
        connection = self._connection()
        try:
            assert connection.sock is not None
            connection.sock.settimeout(request.timeout)
            reusable = self._write(connection, request)
            return Answer(self, connection, reusable)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            if isinstance(error, SandboxError):
                raise
            raise self.cut(error) from error
        except BaseException:
            connection.close()
            raise

    def cut(self, error: Exception) -> ConnectionError:
        """The exception for an error of a connection that was made."""
        if isinstance(error, (socket.timeout, TimeoutError)):
            failed: ConnectionError = RequestTimeoutError(f"{self._settings.endpoint} did not answer in time")
        else:
            failed = ConnectionError(f"the connection to {self._settings.endpoint} was cut: {error!r}")
        failed.endpoint = self._settings.endpoint
        return failed

    def keep(self, connection: http.client.HTTPConnection) -> None:
        """Takes a connection back whose answer was read."""
        with self._lock:
            if not self._closed:
                now = time.monotonic()
                self._idle.append((connection, now))
                # The last one is used first: those that many calls at a time have left would never be closed.
                while now - self._idle[0][1] >= IDLE:
                    self._idle.pop(0)[0].close()
                return
        connection.close()

    def close(self) -> None:
        """Closes the connections that are not in use."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        while True:
            with self._lock:
                if self._closed:
                    raise SandboxError("the client is closed")
                connection, since = self._idle.pop() if self._idle else (None, 0.0)
            if connection is None:
                return self._connect()
            # A connection that the server closed is readable.
            if time.monotonic() - since < IDLE and not _readable(connection.sock):
                return connection
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        host, port, wait = self._settings.host, self._settings.port, self._settings.connect_timeout
        connection: http.client.HTTPConnection
        if self._settings.tls is None:
            connection = http.client.HTTPConnection(host, port, timeout=wait)
        else:
            connection = http.client.HTTPSConnection(host, port, timeout=wait, context=self._settings.tls)
        try:
            connection.connect()
            tune(connection.sock)
        except OSError as error:
            connection.close()
            failed = NotConnectedError(f"cannot connect to {self._settings.endpoint}: {error}")
            failed.endpoint = self._settings.endpoint
            raise failed from error
        return connection

    def _write(self, connection: http.client.HTTPConnection, request: Request) -> bool:
        """Sends a request; returns whether the connection can be used again after its answer."""
        body, headers = request.body, dict(request.headers)
        content: Union[bytes, Iterator[bytes], None]
        if isinstance(body, Body):
            headers["Transfer-Encoding"] = "chunked"
            content = _until_answered(body.pieces(), connection)
        elif body is not None and len(body) > PIECE:
            headers["Content-Length"] = str(len(body))
            content = _until_answered((body[at : at + PIECE] for at in range(0, len(body), PIECE)), connection)
        else:
            content = body
        try:
            chunked = isinstance(body, Body)
            connection.request(request.method, request.target, content, headers, encode_chunked=chunked)
        except _EarlyAnswer:
            return False
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            # A server that refuses a body answers and closes: the answer may be there.
            return False
        except socket.timeout:
            # Or it answers and reads no more.
            if not _readable(connection.sock):
                raise
            return False
        return True


def _until_answered(pieces: Iterator[bytes], connection: http.client.HTTPConnection) -> Iterator[bytes]:
    # What can be read of TLS need not be an answer: the server sends tickets for later connections. An early answer is
    # seen there when the server closes the connection.
    plain = not isinstance(connection.sock, ssl.SSLSocket)
    for piece in pieces:
        if plain and _readable(connection.sock):
            raise _EarlyAnswer
        if piece:
            yield piece


def _readable(sock: Optional[socket.socket]) -> bool:
    if sock is None:
        return True
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))
