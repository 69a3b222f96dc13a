"""What both transports share: requests, bodies, lines, sockets."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import socket
import uuid
from typing import Any, BinaryIO, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Union
from urllib.parse import quote, urlencode

import httpx

from ._arguments import require_arguments
from ._duration import Duration, exact_seconds
from ._json import encode
from ._table import ROUTES, Route
from ._settings import Settings
from ._version import __version__
from .errors import InvalidArgumentError

#: Bytes of a body that are read or written at once.
PIECE = 256 * 1024
#: Seconds after which an idle connection is not used again: the server closes it after 75.
IDLE = 60.0
_IDEMPOTENCY_KEY = re.compile(r'[A-Za-z0-9\-._~:/+=@]{1,255}|"[A-Za-z0-9\-._~:/+=@]{1,255}"')
_DOTS = re.compile(r"(?<![^/])\.\.?(?![^/])")
#: Parts of an answer come at least every 15 seconds in streams with keepalives.
STREAM_TIMEOUT = 60.0


@dataclasses.dataclass(frozen=True)
class Body:
    """Content that is sent in pieces.

    Attributes:
        pieces: Returns the content from its beginning.
        again: Whether it can be called more than once.
    """

    pieces: Callable[[], Iterator[bytes]]
    again: bool = True


#: What is sent: text, bytes, an iterator of bytes, or a file opened in binary mode.
Content = Union[bytes, str, Body, Iterator[bytes], BinaryIO]
#: Text for a shell, or a program with its arguments.
Command = Union[str, Sequence[str]]


def body_of(content: Optional[Content], what: str = "content must be text") -> Union[bytes, Body]:
    """The body of content that a caller gives: text, bytes, an iterator of bytes, or a file opened in binary mode."""
    if isinstance(content, str):
        return content.encode()
    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content)
    if isinstance(content, Body):
        return content
    read = getattr(content, "read", None)
    if read is not None and not isinstance(content, io.TextIOBase):
        return Body(lambda: _bytes_of(iter(lambda: read(PIECE), b"")), again=False)
    if hasattr(content, "__iter__") and not isinstance(content, io.TextIOBase):
        return Body(lambda: _bytes_of(iter(content)), again=False)
    raise InvalidArgumentError(f"{what}, {_PIECES}")


_PIECES = "bytes, an iterator of bytes or a file opened in binary mode"


def _bytes_of(pieces: Iterator[Any]) -> Iterator[bytes]:
    for piece in pieces:
        if not isinstance(piece, (bytes, bytearray, memoryview)):
            raise InvalidArgumentError(f"content must be text, {_PIECES}")
        yield bytes(piece)


@dataclasses.dataclass
class Request:
    """One attempt of a call. `timeout`: seconds without any byte of the answer; None: unlimited."""

    method: str
    target: str
    headers: Dict[str, str]
    body: Optional[Union[bytes, Body]] = None
    timeout: Optional[float] = None


@dataclasses.dataclass
class Call:
    """A call of an operation, with all its attempts.

    Attributes:
        request: Fields of the request, as JSON.
        key: The idempotency key.
        timeout: As of `Request`.
        attempts: How often it is tried at most.
        is_repeatable: Whether a second attempt has no second effect.
    """

    operation: str
    request: Dict[str, Any]
    body: Optional[Union[bytes, Body]]
    key: Optional[str]
    timeout: Optional[float]
    attempts: int
    is_repeatable: bool

    @property
    def route(self) -> Route:
        return ROUTES[self.operation]


def call_of(
    settings: Settings,
    operation: str,
    given: Mapping[str, Any],
    content: Optional[Content] = None,
    page: Mapping[str, Any] = {},
) -> Call:
    """`given`: the fields of the request, and the options of the call. `page`: further fields, of a list."""
    require_arguments(operation, given)
    route = ROUTES[operation]
    fields = {**given, **page}
    retries, key = fields.pop("max_retries", None), fields.pop("idempotency_key", None)
    timeout = fields.get("timeout") if route.timed else fields.pop("timeout", None)
    # Nothing must not be taken for empty content: it would empty what is there.
    body = body_of(content) if route.kind == "raw" else None
    is_once = isinstance(body, Body) and not body.again
    is_repeatable = route.retry != "again" or fields.get(_REPEATABLE_WITH.get(operation, "")) is not None
    if key is not None and not _IDEMPOTENCY_KEY.fullmatch(key):
        raise InvalidArgumentError("idempotency_key must be 1 to 255 letters, digits and - . _ ~ : / + = @")
    return Call(
        operation=operation,
        request=encode(fields, nulls=route.method == "PATCH"),
        body=body,
        key=str(uuid.uuid4()) if key is None and route.retry == "key" else key,
        timeout=_wait(settings, operation, timeout, fields.get("wait")),
        attempts=1 if is_once else 1 + (settings.max_retries if retries is None else int(retries)),
        is_repeatable=is_repeatable and not is_once,
    )


#: Operations that take effect once if they have this field.
_REPEATABLE_WITH = {"StartProcess": "process_id", "WriteProcessInput": "offset"}
#: Operations that may take any time without a word.
_UNLIMITED = ("Exec", "SessionExec", "ImportImage", "WriteProcessInput")
#: Seconds that an answer may take beyond the time for which the service is to wait.
_GRACE = 60.0


def _wait(settings: Settings, operation: str, timeout: Duration, wait: Duration) -> Optional[float]:
    """Seconds to wait for a byte of the answer; None: unlimited, where keepalives of TCP find a dead server."""
    route = ROUTES[operation]
    limit = exact_seconds("timeout", timeout)
    if timeout is not None and not route.timed:
        return limit
    if route.kind == "events":
        return STREAM_TIMEOUT
    if wait is not None:
        # The service says nothing while it waits.
        return exact_seconds("wait", wait) + _GRACE
    # A command of a session may wait for those before it.
    if operation == "Exec" and limit > 0:
        return limit + _GRACE
    return None if operation in _UNLIMITED else settings.timeout


def request_of(settings: Settings, call: Call) -> Request:
    """The HTTP request of an attempt."""
    route, rest, body = call.route, dict(call.request), call.body
    target = settings.prefix
    for part in route.path.split("/")[1:]:
        target += "/" + (_fill(part[1:-1], rest) if part.startswith("{") else part)
    if route.query:
        rest.setdefault(route.query, "tar" if route.query == "format" else True)
    headers = {"Host": settings.authority, "User-Agent": f"paddock-sandbox/{__version__} python"}
    if settings.key is not None:
        headers["Authorization"] = f"Bearer {settings.key}"
    if call.key is not None:
        headers["Idempotency-Key"] = call.key
    if route.kind in ("unary", "events") and route.method in ("POST", "PUT", "PATCH"):
        headers["Content-Type"] = "application/json"
        body = json.dumps(rest).encode()
    elif rest:
        target += "?" + urlencode(_query(rest))
    return Request(route.method, target, headers, body, call.timeout)


def _fill(name: str, fields: Dict[str, Any]) -> str:
    value = str(fields.pop(name.rstrip("+"), ""))
    try:
        text = quote(value, safe="/" if name.endswith("+") else "")
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"{name.rstrip('+')} must be valid Unicode") from None
    # httpx would resolve them, and ask for something else.
    if _DOTS.search(text):
        raise InvalidArgumentError(f'{name.rstrip("+")} must have no part "." or ".."')
    return text


def _query(fields: Mapping[str, Any]) -> List[Any]:
    """An entry of a map is a parameter `field.key`, each element of a list a parameter of its own."""
    pairs: List[Any] = []
    for name, value in fields.items():
        if isinstance(value, dict):
            pairs += [(f"{name}.{key}", _text(each)) for key, each in value.items()]
        elif isinstance(value, list):
            pairs += [(name, _text(each)) for each in value]
        else:
            # Permission bits are octal in a query.
            pairs.append((name, f"{value:o}" if name == "mode" and isinstance(value, int) else _text(value)))
    return pairs


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


class Lines:
    """Divides pieces of a stream into lines."""

    def __init__(self) -> None:
        self._rest: List[bytes] = []

    def add(self, piece: bytes) -> List[bytes]:
        """The lines that the piece completes."""
        first, *others = piece.split(b"\n")
        self._rest.append(first)
        if not others:
            return []
        lines = [b"".join(self._rest), *others[:-1]]
        self._rest = [others[-1]]
        return [line for line in lines if line]


def pieces_of(body: Optional[Union[bytes, Body]]) -> Iterator[bytes]:
    """A body in pieces, none of which is empty."""
    if isinstance(body, Body):
        return filter(None, body.pieces())
    content = body or b""
    return (content[at : at + PIECE] for at in range(0, len(content), PIECE))


def pool_options(settings: Settings, keep: Optional[int] = None) -> Dict[str, Any]:
    """Options of a transport of httpx that keeps this number of idle connections; None: all."""
    # Finds dead peers also while a long command says nothing: after about a minute and a half.
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 6)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return {
        "verify": settings.tls or False,
        "proxy": settings.proxy,
        "limits": httpx.Limits(max_keepalive_connections=keep, keepalive_expiry=IDLE),
        "socket_options": options,
    }
