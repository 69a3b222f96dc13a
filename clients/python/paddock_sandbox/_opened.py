"""Where an opened port is reached."""

from __future__ import annotations

import dataclasses
from urllib.parse import urlencode

from .messages import OpenPortResponse


@dataclasses.dataclass(frozen=True)
class Opened(OpenPortResponse):
    """An opened port.

    Attributes:
        link: Address of the port, with the link token, if there is one; a browser can open it.
    """

    link: str = ""


def opened_of(answer: OpenPortResponse, endpoint: str) -> Opened:
    """`endpoint`: address of the service, for a port that has no host of its own."""
    token = f"?{urlencode({'paddock_token': answer.link_token})}" if answer.link_token else ""
    link = f"{endpoint if answer.url.startswith('/') else ''}{answer.url}{token}"
    return Opened(**vars(answer), link=link)
