# Generated from _async/calls.py by `npm run generate`; do not edit.
"""Calls of operations: retries, errors."""

from __future__ import annotations

import weakref
from dataclasses import replace
from typing import Any, Generator, Callable, Dict, Mapping, Optional, Type, TypeVar

from .._error_of import error_of, error_of_answer
from .._http import Call, Content, Lines, call_of, request_of
from .._json import decode, parse
from .._retry import may_have_worked, pause
from .._settings import Settings
from .._table import CURSORS
from ..errors import ConnectionFailedError, NotFoundError, PaddockError
from .concurrency import sleep
from .transport import Answer, Transport

M = TypeVar("M")
T = TypeVar("T")
#: Largest page of a list.
_PAGE = 1000


class Calls:
    """Calls the service. Base of `Api`, whose methods are one operation each."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._transport = Transport(settings)
        self._users: weakref.WeakSet[object] = weakref.WeakSet()

    @property
    def endpoint(self) -> str:
        """Address of the service."""
        return self._settings.endpoint

    def _call(
        self,
        operation: str,
        given: Mapping[str, Any],
        content: Optional[Content] = None,
        page: Mapping[str, Any] = {},
    ) -> Any:
        """The JSON answer of an operation. `given`: fields of the request, and options of the call."""

        def once(call: Call) -> Any:
            answer = self._send(call)
            raw = answer.read()
            found = parse(raw)
            if isinstance(found, dict):
                return found
            if answer.status == 204:
                return {}
            # A cut answer, or one of something in between: what the operation did is not known.
            raise self._transport.cut(ValueError(f"not an answer of {operation}: {raw[:50]!r}"))

        return self._repeated(call_of(self._settings, operation, given, content, page), once)

    def _message(
        self, cls: Type[M], operation: str, given: Mapping[str, Any], content: Optional[Content] = None
    ) -> M:
        return decode(cls, self._call(operation, given, content) or {})

    def _list(
        self, cls: Type[M], operation: str, name: str, given: Mapping[str, Any], pages: bool = True
    ) -> Generator[M, None, None]:
        """The elements of a list, page by page."""
        token: Optional[str] = None
        while token != "":
            page = {"page_size": _PAGE, "page_token": token} if pages else {}
            answer = self._call(operation, given, page=page)
            for each in answer.get(name, ()):
                yield decode(cls, each)
            token = answer.get("next_page_token", "")

    def _stream(self, cls: Type[M], operation: str, given: Mapping[str, Any]) -> Generator[M, None, None]:
        """The messages of a stream. One with a cursor goes on where it was after a cut connection."""
        call = call_of(self._settings, operation, given)
        messages = self._watched(call) if operation in CURSORS else self._followed(call)
        try:
            for message in messages:
                yield decode(cls, message)
        finally:
            # An outer generator that is closed does not close this one: its command would go on.
            messages.close()

    def _followed(self, call: Call) -> Generator[Dict[str, Any], None, None]:
        ended = False
        messages = self._events(replace(call, request={**call.request, "keepalive": True}))
        try:
            for message in messages:
                if not message.get("keepalive"):
                    ended = message.get("exit_code") is not None
                    yield message
        finally:
            messages.close()
        if not ended:
            raise ConnectionFailedError(f"the stream of {call.operation} ended before the command")

    def _watched(self, call: Call) -> Generator[Dict[str, Any], None, None]:
        """The messages until the one with `end`."""
        cursor, position = CURSORS[call.operation]
        failures = 0
        while True:
            # Opened once each time: what is repeated is this loop.
            messages = self._events(replace(call, attempts=1))
            try:
                for message in messages:
                    failures = 0
                    if message.get("keepalive"):
                        continue
                    call = replace(call, request={**call.request, cursor: message.get(position, 0)})
                    yield message
                    if message.get("end") is not None:
                        return
                raise ConnectionFailedError(f"the stream of {call.operation} ended before its end")
            except PaddockError as error:
                failures += 1
                delay = pause(error, failures, call.attempts, True)
                if delay is None:
                    raise
            finally:
                messages.close()
            sleep(delay)

    def _events(self, call: Call) -> Generator[Dict[str, Any], None, None]:
        """The messages of an answer. An error in it is raised."""
        answer = self._repeated(call, self._send)
        lines = Lines()
        try:
            for piece in answer.pieces():
                for line in lines.add(piece):
                    message = parse(line)
                    if not isinstance(message, dict):
                        raise ConnectionFailedError(f"{call.operation} sent what is not a message")
                    if "error" in message:
                        raise error_of(message["error"], call.operation, call.request)
                    yield message
        finally:
            answer.close()

    def _pieces(self, operation: str, given: Mapping[str, Any]) -> Generator[bytes, None, None]:
        """The bytes of an answer as they arrive. Retried only until its head has come."""
        answer = self._repeated(call_of(self._settings, operation, given), self._send)
        try:
            for piece in answer.pieces():
                yield piece
        finally:
            answer.close()

    def _whole(self, operation: str, given: Mapping[str, Any]) -> bytes:
        """All bytes of an answer; a cut connection starts again."""

        def once(call: Call) -> bytes:
            answer = self._send(call)
            return answer.read()

        return self._repeated(call_of(self._settings, operation, given), once)

    def _send(self, call: Call) -> Answer:
        answer = self._transport.send(request_of(self._settings, call))
        if answer.status in (200, 204):
            return answer
        raw, after = answer.read(), answer.headers.get("retry-after", "")
        raise error_of_answer(answer.status, raw, after, self._settings.endpoint, call.operation, call.request)

    def _repeated(self, call: Call, once: Callable[[Call], T]) -> T:
        attempt = 0
        lost = False
        while True:
            attempt += 1
            try:
                return once(call)
            except PaddockError as error:
                if lost and call.route.method == "DELETE" and isinstance(error, NotFoundError):
                    # An earlier attempt, whose answer was lost, has removed it.
                    return None  # type: ignore[return-value]
                lost = lost or may_have_worked(error)
                delay = pause(error, attempt, call.attempts, call.is_repeatable)
                if delay is None:
                    raise
            sleep(delay)

    def use(self, user: object) -> None:
        """`user` needs connections, until it leaves."""
        self._users.add(user)

    def leave(self, user: object) -> None:
        """Closes the connections with the last user. Calls afterwards succeed, each over one of its own."""
        self._users.discard(user)
        if not self._users:
            self._transport.release()

    def close(self) -> None:
        """Closes idle connections. Calls afterwards fail."""
        self._transport.close()
