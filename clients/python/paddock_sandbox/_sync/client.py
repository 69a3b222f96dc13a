# Generated from _async/client.py by `npm run generate`; do not edit.
"""The client: one method for each operation of the service."""

from __future__ import annotations

import ssl
from types import TracebackType
from typing import Optional, Type

from .._duration import Duration
from .._settings import settings
from .admin import AdminOperations


class SandboxClient(AdminOperations):
    """An synchronous client of the service. Close it, or use it as a context manager.

    Calls whose repetition has no second effect are repeated after a cut connection, after a refusal for now (429) as it
    asks for, and with growing random pauses.
    """

    def __init__(
        self,
        endpoint: Optional[str] = None,
        secure: bool = False,
        *,
        url: Optional[str] = None,
        key: Optional[str] = None,
        ca_file: Optional[str] = None,
        tls: Optional[ssl.SSLContext] = None,
        timeout: Duration = "5m",
        connect_timeout: Duration = "10s",
        attempts: int = 4,
    ) -> None:
        """Does not connect yet.

        Args:
            endpoint: "host:port" of the REST address; "localhost:9000", the gRPC address that programs for the
                reference interface name, stands for the default.
            secure: https, if `endpoint` names no scheme; any other address must be https then.
            url: Address of the service; default: PADDOCK_URL, or http://127.0.0.1:8080.
            key: API key; default: none, or PADDOCK_KEY if the address is that of PADDOCK_URL: no other host gets it.
            ca_file: File with the certificates that the service's may be signed by; default: the system's.
            tls: Context of https connections instead, for example with a client certificate.
            timeout: Time without any byte of an answer after which a call fails with `RequestTimeoutError`.
            connect_timeout: Time until a connection is made.
            attempts: How often a call is tried at most.
        """
        super().__init__(
            settings(
                endpoint,
                secure,
                url=url,
                key=key,
                ca_file=ca_file,
                tls=tls,
                timeout=timeout,
                connect_timeout=connect_timeout,
                attempts=attempts,
            )
        )

    def close(self) -> None:
        """Closes idle connections. Calls afterwards fail."""
        self._transport.close()

    def __enter__(self) -> "SandboxClient":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()
