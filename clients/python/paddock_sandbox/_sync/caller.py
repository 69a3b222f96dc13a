# Generated from _async/caller.py by `npm run generate`; do not edit.
"""Calls of operations: routes, retries, errors."""

from __future__ import annotations

import uuid
from typing import (
    Any,
    Generator,
    Awaitable,
    Callable,
    Dict,
    List,
    Mapping,
    Optional,
    Type,
    TypeVar,
    Union,
)

from .._error_of import error_of, error_of_answer
from .._http import STREAM_TIMEOUT, Body, Lines, request_of
from .._json import decode, parse
from .._retry import may_have_worked, pause
from .._routes import ROUTES
from .._settings import Settings
from ..errors import ConnectionFailedError, NotFoundError, PaddockError
from .concurrency import sleep
from .transport import Answer, Transport

M = TypeVar("M")
T = TypeVar("T")
#: Largest page of a list.
_PAGE = 1000


class Caller:
    """Calls the service. Base of `SandboxClient`, whose methods are one operation each."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._transport = Transport(settings)

    def _call(
        self,
        operation: str,
        fields: Mapping[str, Any],
        body: Optional[Union[bytes, Body]] = None,
        *,
        timeout: Optional[float] = -1,
        repeatable: Optional[bool] = None,
        key: Optional[str] = None,
    ) -> Any:
        """The JSON answer of an operation.

        `timeout`: seconds to wait for a byte of the answer; -1: that of the client; None: unlimited. `repeatable`: a
        second call has no second effect; None: as the route says. `key`: the idempotency key; None: a new one.
        """

        def once(request_key: Optional[str]) -> Any:
            answer = self._send(operation, fields, body, timeout, request_key)
            raw = answer.read()
            content = parse(raw)
            if isinstance(content, dict):
                return content
            if answer.status == 204:
                return {}
            # A cut answer, or one of something in between: what the operation did is not known.
            raise self._transport.cut(ValueError(f"not an answer of {operation}: {raw[:50]!r}"))

        return self._repeated(operation, once, body, repeatable, key)

    def _message(self, cls: Type[M], operation: str, fields: Mapping[str, Any], **options: Any) -> M:
        return decode(cls, self._call(operation, fields, **options) or {})

    def _all(self, cls: Type[M], operation: str, name: str, fields: Mapping[str, Any]) -> List[M]:
        """All elements of a list, page by page."""
        found: List[M] = []
        token: Optional[str] = None
        while token != "":
            page = self._call(operation, {**fields, "page_size": _PAGE, "page_token": token})
            found += [decode(cls, each) for each in page.get(name, ())]
            token = page.get("next_page_token", "")
        return found

    def _open(
        self,
        operation: str,
        fields: Mapping[str, Any],
        *,
        timeout: Optional[float] = -1,
        attempts: Optional[int] = None,
    ) -> Answer:
        """The answer of an operation whose body is a stream or a file. Retried only until its head has come."""

        def once(_: Optional[str]) -> Answer:
            return self._send(operation, fields, None, timeout, None)

        return self._repeated(operation, once, None, None, None, attempts)

    def _pieces(self, operation: str, fields: Mapping[str, Any]) -> Generator[bytes, None, None]:
        answer = self._open(operation, fields)
        try:
            for piece in answer.pieces():
                yield piece
        finally:
            answer.close()

    def _whole(self, operation: str, fields: Mapping[str, Any]) -> bytes:
        """A file or archive; a cut connection starts again."""

        def once(_: Optional[str]) -> bytes:
            answer = self._send(operation, fields, None, -1, None)
            return answer.read()

        return self._repeated(operation, once, None, None, None)

    def _events(
        self, operation: str, fields: Mapping[str, Any], *, attempts: Optional[int] = None
    ) -> Generator[Dict[str, Any], None, None]:
        """The messages of a stream. An error in it is raised. `attempts` to open it; None: those of the client."""
        answer = self._open(operation, fields, timeout=STREAM_TIMEOUT, attempts=attempts)
        lines = Lines()
        try:
            for piece in answer.pieces():
                for line in lines.add(piece):
                    message = parse(line)
                    if not isinstance(message, dict):
                        raise ConnectionFailedError(f"{operation} sent what is not a message")
                    if "error" in message:
                        raise error_of(message["error"], operation, fields)
                    yield message
        finally:
            answer.close()

    def _watched(
        self, operation: str, fields: Mapping[str, Any], cursor: str, position: str
    ) -> Generator[Dict[str, Any], None, None]:
        """The messages of a stream until the one with `end`; it goes on where it was after a cut connection.

        `cursor`: the field of the request with the `position` of the last message.
        """
        failures = 0
        while True:
            # Opened once each time: what is repeated is this loop.
            messages = self._events(operation, fields, attempts=1)
            try:
                for message in messages:
                    failures = 0
                    if message.get("keepalive"):
                        continue
                    fields = {**fields, cursor: message.get(position, 0)}
                    yield message
                    if message.get("end") is not None:
                        return
                raise ConnectionFailedError(f"the stream of {operation} ended before its end")
            except PaddockError as error:
                failures += 1
                delay = pause(error, failures, self._settings.attempts, True)
                if delay is None:
                    raise
            finally:
                messages.close()
            sleep(delay)

    def _send(
        self,
        operation: str,
        fields: Mapping[str, Any],
        body: Optional[Union[bytes, Body]],
        timeout: Optional[float],
        key: Optional[str],
    ) -> Answer:
        request = request_of(self._settings, operation, fields, body, key)
        request.timeout = self._settings.timeout if timeout == -1 else timeout
        answer = self._transport.send(request)
        if answer.status in (200, 204):
            return answer
        raw, after = answer.read(), answer.headers.get("retry-after", "")
        raise error_of_answer(answer.status, raw, after, self._settings.endpoint, operation, fields)

    def _repeated(
        self,
        operation: str,
        once: Callable[[Optional[str]], T],
        body: Optional[Union[bytes, Body]],
        repeatable: Optional[bool],
        key: Optional[str],
        attempts: Optional[int] = None,
    ) -> T:
        route = ROUTES[operation]
        if route.retry == "key" and key is None:
            key = str(uuid.uuid4())
        if repeatable is None:
            repeatable = route.retry != "again"
        if isinstance(body, Body) and not body.again:
            repeatable = False
            attempts = 1
        attempt = 0
        lost = False
        while True:
            attempt += 1
            try:
                return once(key)
            except PaddockError as error:
                if lost and route.method == "DELETE" and isinstance(error, NotFoundError):
                    # An earlier attempt, whose answer was lost, has removed it.
                    return None  # type: ignore[return-value]
                lost = lost or may_have_worked(error)
                delay = pause(error, attempt, attempts or self._settings.attempts, repeatable)
                if delay is None:
                    raise
            sleep(delay)
