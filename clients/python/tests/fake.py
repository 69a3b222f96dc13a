"""A server that answers each request as the test says."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
from typing import Any, Dict, List, Optional

Answer = Optional[bytes]
#: Closes the connection without an answer.
CUT: Answer = None
#: Answers nothing until the client leaves.
SILENT = b""


def answer(
    status: int, body: Any, headers: Optional[Dict[str, str]] = None, length: Optional[int] = None
) -> bytes:
    """An answer. `length`: another Content-Length than that of the body."""
    content = json.dumps(body).encode() if not isinstance(body, bytes) else body
    fields = {"content-length": str(len(content) if length is None else length), **(headers or {})}
    lines = [f"HTTP/1.1 {status} x", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode() + content


def error(
    status: int, code: int, message: str, details: Any = (), headers: Optional[Dict[str, str]] = None
) -> bytes:
    """An answer of the service that is an error."""
    return answer(status, {"code": code, "message": message, "details": list(details)}, headers)


class FakeServer:
    """Answers the requests in the order of `answers`, and keeps what it was asked. Use it as a context manager."""

    def __init__(
        self,
        *answers: Answer,
        read_body: bool = True,
        stay: bool = False,
        tls: Optional[ssl.SSLContext] = None,
    ) -> None:
        """`read_body`: False: answers after the head. `stay`: keeps a connection after its answer until the client
        leaves, which `left` counts; without `read_body` until the end, and reads no more.
        """
        self._stay = stay
        self._closing = threading.Event()
        self.left = 0
        self._answers = list(answers)
        self._read_body = read_body
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._tls = tls
        self.requests: List[Dict[str, Any]] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    @property
    def url(self) -> str:
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> "FakeServer":
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        # Closing a listener does not wake the thread that accepts.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        if self._tls is not None:
            try:
                connection = self._tls.wrap_socket(connection, server_side=True)
            except OSError:
                connection.close()
                return
        with connection, connection.makefile("rb") as file:
            try:
                while self._answers and self._next(connection, file):
                    pass
            except OSError:
                pass

    def _next(self, connection: socket.socket, file: Any) -> bool:
        first = file.readline()
        if not first:
            return False
        headers = {}
        for line in iter(file.readline, b"\r\n"):
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        body = self._body(file, headers) if self._read_body else b""
        method, target, _ = first.decode().split(" ")
        self.requests.append({"method": method, "target": target, "headers": headers, "body": body})
        reply = self._answers.pop(0)
        if reply is None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        connection.sendall(reply)
        if reply == SILENT and not self._read_body:
            # Reads nothing, either.
            self._closing.wait()
            return False
        if reply == SILENT:
            return bool(connection.recv(1))
        if self._stay and not self._read_body:
            self._closing.wait()
            return False
        if not self._read_body:
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
        if self._stay:
            connection.recv(1)
            self.left += 1
        # A shorter body than announced: the connection is cut in it.
        head, _, content = reply.partition(b"\r\n\r\n")
        return f"content-length: {len(content)}".encode() in head

    @staticmethod
    def _body(file: Any, headers: Dict[str, str]) -> bytes:
        if headers.get("transfer-encoding") != "chunked":
            return file.read(int(headers.get("content-length", "0")))
        pieces = []
        while True:
            size = int(file.readline(), 16)
            pieces.append(file.read(size))
            file.readline()
            if size == 0:
                return b"".join(pieces)
