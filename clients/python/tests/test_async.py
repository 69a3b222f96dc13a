"""The asynchronous client on a real server."""

from __future__ import annotations

import asyncio
import gc
import unittest
import warnings

from paddock_sandbox import AsyncSandbox, AsyncPaddock, CommandError, NotFoundError
from support import ServerCase


class Asynchronous(ServerCase, unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.same = await AsyncSandbox.connect(self.sandbox.id)
        self.addAsyncCleanup(self.same.close)

    async def test_more_commands_than_threads_run_at_the_same_time(self) -> None:
        ready = "touch /tmp/$0; until [ $(ls /tmp | grep -c go-) -ge 30 ]; do sleep 0.1; done; echo $0"
        results = await asyncio.gather(*[self.same.run(["sh", "-c", ready, f"go-{n}"]) for n in range(30)])
        self.assertEqual([each.stdout for each in results], [f"go-{n}\n" for n in range(30)])

    async def test_a_cancelled_task_ends_its_command(self) -> None:
        task = asyncio.ensure_future(self.same.run("touch /tmp/begun; exec sleep 4321"))
        while not (await self.same.run("test -e /tmp/begun")).ok:
            await asyncio.sleep(0.02)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        while "4321" in (await self.same.run("cat /proc/[0-9]*/cmdline 2>&1 | tr '\\0' ' '; true")).stdout:
            await asyncio.sleep(0.02)

    async def test_streams_sessions_processes_and_files(self) -> None:
        self.assertEqual([each.data async for each in self.same.stream("echo a")], [b"a\n", b""])
        async with self.same.session() as session:
            await session.run("X=1")
            self.assertEqual((await session.run("echo $X")).stdout, "1\n")
        async with await self.same.session() as session:
            with self.assertRaises(CommandError):
                await session.run("false", check=True)
        async with await self.same.start("cat", stdin=True) as process:
            await process.write(iter([b"a" * 300_000, b"b"]), end=True)
            output = b"".join([each.data async for each in process.output()])
            self.assertEqual(output, b"a" * 300_000 + b"b")
        await self.same.files.write("a/b.txt", "text")
        self.assertEqual(await self.same.files.read("a/b.txt"), b"text")

    async def test_a_directory_goes_in_and_its_changes_come_out(self) -> None:
        directory = self.directory()
        async with AsyncSandbox.create(directory, preset="development") as sandbox:
            await sandbox.run("echo changed > main.py")
            self.assertEqual((await sandbox.pull(directory)).applied, ("main.py",))
            self.assertEqual(self.get(directory, "main.py"), "changed\n")
        async with AsyncPaddock() as client:
            with self.assertRaises(NotFoundError):
                await client.sandboxes.get(sandbox.id)


    async def test_a_fork_outlives_what_it_was_forked_from_and_is_then_not_found(self) -> None:
        first = await AsyncSandbox.create()
        self.addCleanup(self.client.codebases.delete, first.codebase_id)
        (second,) = await first.forks(1)
        await first.destroy()
        self.assertEqual((await second.run("echo fork")).stdout, "fork\n")
        await second.destroy()
        with self.assertRaises(NotFoundError):
            await second.run("true")


class SeveralLoops(ServerCase):
    def test_a_client_can_be_used_by_one_loop_after_another(self) -> None:
        client = AsyncPaddock()
        with warnings.catch_warnings():
            # The connections of the first loop end with it.
            warnings.simplefilter("ignore", ResourceWarning)
            for _ in range(2):
                self.assertIsNone(asyncio.run(client.health()))
            asyncio.run(client.close())
            gc.collect()
