"""Runs a test with both clients."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, Callable
from unittest import mock

from fake import FakeServer
from paddock_sandbox import AsyncPaddock, Paddock
from paddock_sandbox._async.download import AsyncDownload
from support import TestCase


async def outcome(value: Any) -> Any:
    """The result of a method of either client: awaited, or all that it yields."""
    if hasattr(value, "__aiter__"):
        return [each async for each in value]
    return await value if inspect.isawaitable(value) else value


class Retries(TestCase):
    def setUp(self) -> None:
        patched = mock.patch("paddock_sandbox._retry._FIRST", 0.001)
        patched.start()
        self.addCleanup(patched.stop)

    def each_client(
        self, server: Callable[[], FakeServer], check: Callable[[Any, FakeServer], Any], **options: Any
    ) -> None:
        """Runs the check with both clients, each with a server of its own."""
        with self.subTest("sync"), server() as fake, Paddock(url=fake.url, **options) as client:
            check(client, fake)

        async def main() -> None:
            with server() as fake:
                async with AsyncPaddock(url=fake.url, **options) as client:
                    await AsyncChecks(check, client, fake).run()

        with self.subTest("async"):
            asyncio.run(main())


class AsyncChecks:
    """Runs a check that is written for the synchronous client with the asynchronous one, in a thread."""

    def __init__(
        self, check: Callable[[Any, FakeServer], Any], client: AsyncPaddock, fake: FakeServer
    ) -> None:
        self._check, self._client, self._fake = check, client, fake

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._check, _Blocking(self._client, loop), self._fake)


class _Blocking:
    """What an asynchronous object has, as if it were synchronous."""

    def __init__(self, inner: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._inner, self._loop = inner, loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return _Blocking(found, self._loop)

        def call(*arguments: Any, **options: Any) -> Any:
            async def run() -> Any:
                return await outcome(found(*arguments, **options))

            result = asyncio.run_coroutine_threadsafe(run(), self._loop).result()
            return _Blocking(result, self._loop) if isinstance(result, AsyncDownload) else result

        return call
