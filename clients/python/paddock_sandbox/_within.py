"""Waits of tasks that can be cancelled."""

from __future__ import annotations

import asyncio
import sys
from typing import Awaitable, Optional, TypeVar

T = TypeVar("T")


async def within(work: Awaitable[T], seconds: Optional[float]) -> T:
    """As `asyncio.wait_for`, which loses a cancellation that comes as the work ends, before Python 3.12."""
    if seconds is None or sys.version_info >= (3, 12):
        return await asyncio.wait_for(work, seconds)
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task], timeout=seconds)
        if not task.done():
            raise asyncio.TimeoutError
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
        # Asked for, so that it is not reported as an error that nobody saw.
        _ = task.cancelled() or task.exception()
