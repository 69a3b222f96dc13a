"""Tasks, threads and time."""

from __future__ import annotations

import asyncio
import time
from typing import Any, AsyncGenerator, AsyncIterator, Callable, Optional, TypeVar, Union

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


async def fed(work: Callable[..., T], pieces: AsyncGenerator[bytes, None], *arguments: Any) -> T:
    """As `in_thread`. The last argument is a function that waits for the next of the pieces; empty: the end.

    The first is here before: with it the connection is, which could wait for a thread.
    """
    first: Optional[bytes] = await anext(pieces, b"")
    loop, is_cancelled, waiting = asyncio.get_running_loop(), False, None

    async def following() -> bytes:
        nonlocal waiting
        if is_cancelled:
            raise asyncio.CancelledError
        waiting = asyncio.current_task()
        return await anext(pieces, b"")

    def piece() -> bytes:
        nonlocal first
        if first is not None:
            given, first = first, None
            return given
        return asyncio.run_coroutine_threadsafe(following(), loop).result()

    task = asyncio.ensure_future(asyncio.to_thread(work, *arguments, piece))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        is_cancelled = True
        if waiting is not None:
            waiting.cancel()
        await asyncio.wait([task])
        raise


async def each_of(body: Union[bytes, Body, None]) -> AsyncIterator[bytes]:
    """The pieces of a body. Files are read in a thread."""
    pieces = pieces_of(body)
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        yield piece
