"""Threads and time."""

from __future__ import annotations

import time
from typing import Any, Callable, Generator, TypeVar

from .._http import pieces_of

T = TypeVar("T")

sleep = time.sleep
monotonic = time.monotonic
each_of = pieces_of


def running_loop() -> object:
    """There is none."""
    return None


def in_thread(work: Callable[..., T], *arguments: Any) -> T:
    """Runs work on files. The asynchronous client does it in a thread."""
    return work(*arguments)


def fed(work: Callable[..., T], pieces: Generator[bytes, None, None], *arguments: Any) -> T:
    """Runs work, whose last argument is a function for the next of the pieces; empty: the end."""
    return work(*arguments, lambda: next(pieces, b""))
