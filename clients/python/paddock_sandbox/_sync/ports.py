# Generated from _async/ports.py by `npm run generate`; do not edit.
"""The ports of a sandbox."""

from __future__ import annotations

from datetime import timedelta
from math import ceil
from typing import Optional, Unpack

from .._arguments import known_options
from .._duration import Duration, exact_seconds
from .._forms import require_form
from .._opened import Opened, opened_of
from ..errors import CommandTimeoutError
from ..messages import ListeningPort, OpenedPort
from ..requests import CallOptions, OpenPortRequest
from .api import Api

#: Milliseconds of one call.
_STEP_MS = 60_000


@known_options
class Ports:
    """The TCP ports on which programs of a sandbox listen, and those that are opened."""

    def __init__(self, api: Api, sandbox_id: str) -> None:
        self._api = api
        self._sandbox_id = sandbox_id

    def list(self, **options: Unpack[CallOptions]) -> tuple[ListeningPort, ...]:
        """The ports on which programs listen."""
        return (self._api.wait_port(sandbox_id=self._sandbox_id, **options)).ports

    def wait(self, port: int, timeout: Duration = "1m", *, max_retries: Optional[int] = None) -> ListeningPort:
        """Waits until a program listens on the port. `CommandTimeoutError` after `timeout`."""
        require_form("port", port, "!integer 1 65535")
        left = ceil(exact_seconds("timeout", timeout or "1m") * 1000)
        while True:
            wait = timedelta(milliseconds=min(left, _STEP_MS))
            answer = self._api.wait_port(
                sandbox_id=self._sandbox_id, port=port, wait=wait, max_retries=max_retries
            )
            if answer.ports:
                return answer.ports[0]
            left -= _STEP_MS
            if left <= 0:
                raise CommandTimeoutError(f"no program of the sandbox listens on port {port} after {timeout}")

    def open(self, port: int, **options: Unpack[OpenPortRequest]) -> Opened:
        """Opens a port, and returns where it is reached: `link` of the answer, which a browser can open.

        `access`: "key", or "link" for everybody who has that link. `expires_in`: None: until it is
        closed. A port that is open already is replaced: its token and connections end.
        """
        answer = self._api.open_port(sandbox_id=self._sandbox_id, port=port, **options)
        return opened_of(answer, self._api.endpoint)

    def opened(self, **options: Unpack[CallOptions]) -> tuple[OpenedPort, ...]:
        """The ports that are open."""
        return (self._api.list_ports(sandbox_id=self._sandbox_id, **options)).ports

    def close(self, port: int, **options: Unpack[CallOptions]) -> None:
        """Closes a port: its link token is not valid any more, and its connections are cut."""
        self._api.close_port(sandbox_id=self._sandbox_id, port=port, **options)
