"""Tasks, threads and time."""

from __future__ import annotations

import asyncio
import time
from typing import Any, AsyncIterator, Callable, Optional, TypeVar, Union

from .._http import Body, pieces_of

T = TypeVar("T")

sleep = asyncio.sleep
monotonic = time.monotonic


def running_loop() -> Optional[asyncio.AbstractEventLoop]:
    """The event loop of the task; None outside of one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def in_thread(work: Callable[..., T], *arguments: Any) -> T:
    """Runs work on files in a thread, so that other tasks go on.

    It has ended when this ends, also when that is cancelled: what it uses can be closed then.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def each_of(body: Union[bytes, Body, None]) -> AsyncIterator[bytes]:
    """The pieces of a body. Files are read in a thread."""
    pieces = pieces_of(body)
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        yield piece
