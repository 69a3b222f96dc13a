"""Where the service is and how it is reached."""

from __future__ import annotations

import dataclasses
import os
import ssl
from typing import Optional
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ._duration import Duration, exact_seconds
from ._forms import require_form
from .errors import InvalidArgumentError

DEFAULT_URL = "http://127.0.0.1:8080"


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a client needs to send requests.

    Attributes:
        tls: Context of https; None: http.
        prefix: Path in front of all routes; empty or with a leading "/".
        timeout: Seconds without any byte of an answer after which a call fails; None: no limit.
        connect_timeout: Seconds until a connection is made; None: no limit.
        max_retries: How often a call is repeated at most.
    """

    host: str
    port: int
    prefix: str
    key: Optional[str] = dataclasses.field(repr=False)
    tls: Optional[ssl.SSLContext]
    timeout: Optional[float]
    connect_timeout: Optional[float]
    max_retries: int

    @property
    def proxy(self) -> Optional[str]:
        """The proxy of the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY); this machine is reached without one."""
        if self.host == "localhost" or self.host.startswith("127.") or self.host == "::1":
            return None
        scheme = "https" if self.tls else "http"
        return None if proxy_bypass(self.host) else getproxies().get(scheme)

    @property
    def endpoint(self) -> str:
        """The address, for error messages."""
        return self.origin + self.prefix

    @property
    def origin(self) -> str:
        """The address without its path."""
        return f"{'https' if self.tls else 'http'}://{self.authority}"

    @property
    def authority(self) -> str:
        """Value of the header Host."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def settings(
    *,
    url: Optional[str] = None,
    key: Optional[str] = None,
    ca_file: Optional[str] = None,
    tls: Optional[ssl.SSLContext] = None,
    timeout: Duration = "5m",
    connect_timeout: Duration = "10s",
    max_retries: int = 3,
) -> Settings:
    """Reads the arguments of a client; see `ClientOptions`."""
    for name, value in (("url", url), ("key", key), ("ca_file", ca_file)):
        require_form(name, value, "string")
    require_form("max_retries", max_retries, "!integer 0")
    default = os.environ.get("PADDOCK_URL") or DEFAULT_URL
    address = url or default
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise InvalidArgumentError("url must be like http://127.0.0.1:8080") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        # Without the value, which may have a password.
        raise InvalidArgumentError("url must begin with http:// or https://")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidArgumentError("url must have no user, query or fragment: a key is `key`")
    # The key of the environment is that of the address in the environment: no other host gets it.
    known = os.environ.get("PADDOCK_KEY") if address.rstrip("/") == default.rstrip("/") else None
    return Settings(
        host=parts.hostname,
        port=port or (443 if parts.scheme == "https" else 80),
        prefix=parts.path.rstrip("/"),
        key=_checked_key(key or known or None),
        tls=_context(parts.scheme, ca_file, tls),
        timeout=None if timeout is None else exact_seconds("timeout", timeout),
        connect_timeout=None if connect_timeout is None else exact_seconds("connect_timeout", connect_timeout),
        max_retries=max_retries,
    )


def _context(scheme: str, ca_file: Optional[str], tls: Optional[ssl.SSLContext]) -> Optional[ssl.SSLContext]:
    if scheme == "https":
        if tls is not None and ca_file is not None:
            raise InvalidArgumentError("tls and ca_file exclude each other")
        return tls or ssl.create_default_context(cafile=ca_file)
    if ca_file is not None or tls is not None:
        # The key would be sent in plain text although the caller asks for TLS.
        raise InvalidArgumentError("ca_file and tls need an address with https://")
    return None


def _checked_key(key: Optional[str]) -> Optional[str]:
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise InvalidArgumentError("key must be printable ASCII without spaces")
    return key
