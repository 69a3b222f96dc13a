"""The calls of the reference interface, in examples of ours."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from paddock_sandbox import (
    AsyncSandbox,
    AsyncSandboxClient,
    NotFoundError,
    CommandError,
    CommandTimeoutError,
    PatternType,
    Permission,
    PermissionRule,
    ResourceLimits,
    RuntimeType,
    Sandbox,
    SandboxClient,
    PaddockError,
    SandboxStatus,
    extend_preset,
    get_preset,
    list_presets,
    walk_directory,
)
from support import TestCase

LETTERS = {
    "inbox/open.txt": "open",
    "inbox/sealed.txt": "sealed",
    "drafts/reply.txt": "",
    "diary.txt": "private",
}
RULES = [
    {"pattern": "drafts/**", "permission": "write"},
    {"pattern": "inbox/open*", "permission": "read"},
    {"pattern": "inbox/sealed*", "permission": "view"},
    {"pattern": "diary*", "permission": "none"},
]


class HighLevel(TestCase):
    def test_the_four_levels(self) -> None:
        with Sandbox.from_local(
            path=self.directory(LETTERS), permissions=RULES, preset="view-only", endpoint="localhost:9000"
        ) as sandbox:
            self.assertEqual(sandbox.run("cat inbox/open.txt", timeout="10s").stdout, "open")
            self.assertIn("sealed.txt", sandbox.run("ls inbox").stdout)
            self.assertNotEqual(sandbox.run("cat inbox/sealed.txt").exit_code, 0)
            self.assertNotIn("diary", sandbox.run("ls -A").stdout)
            self.assertTrue(sandbox.run("echo Dear > drafts/reply.txt").ok)
            self.assertNotEqual(sandbox.run("echo x >> inbox/open.txt").exit_code, 0)
            self.assertEqual(sandbox.read_file("/workspace/drafts/reply.txt"), "Dear\n")
            self.assertEqual(sandbox.read_file_bytes("drafts/reply.txt"), b"Dear\n")

    def test_options_sessions_and_streams(self) -> None:
        rules = extend_preset("read-only", additions=[{"pattern": "/drafts/**", "permission": "write"}])
        with Sandbox.from_local(
            self.directory(LETTERS),
            preset="read-only",
            permissions=[
                *rules,
                PermissionRule(pattern="/diary.txt", permission=Permission.NONE, type=PatternType.FILE),
            ],
            runtime=RuntimeType.BWRAP,
            resources=ResourceLimits(memory_bytes=512 * 1024 * 1024, pids_limit=100),
            codebase_name="letters",
            ignore_patterns=["*.log", "inbox/**"],
            labels={"team": "post"},
        ) as sandbox:
            self.assertEqual((sandbox.info.labels, sandbox.runtime), ({"team": "post"}, RuntimeType.BWRAP))
            self.assertEqual(sandbox.list_files(recursive=True), ["diary.txt", "drafts/reply.txt"])
            with sandbox.session(shell="/bin/sh", env={"STAMP": "5"}) as session:
                session.exec("cd /workspace/drafts")
                session.exec("export PAID=yes")
                result = session.exec("echo $STAMP $PAID $(pwd)", timeout=timedelta(seconds=20))
                self.assertEqual(result.output.strip(), "5 yes /workspace/drafts")
                self.assertEqual(session.sandbox_id, sandbox.id)
            pieces = [piece.decode() for piece in sandbox.exec_stream(command="echo one; echo two")]
            self.assertEqual("".join(pieces), "one\ntwo\n")
            result = sandbox.exec(
                "cat", stdin="in", env={"A": "1"}, workdir="/workspace", timeout=timedelta(seconds=30)
            )
            self.assertEqual((result.stdout, result.command), ("in", "cat"))
            self.assertGreaterEqual(result.duration, timedelta(0))

    def test_errors(self) -> None:
        with Sandbox.from_local(self.directory(LETTERS)) as sandbox:
            with self.assertRaises(CommandTimeoutError):
                sandbox.run("sleep 60", timeout="1s")
            with self.assertRaises(CommandError) as caught:
                sandbox.run("echo why >&2; exit 7", check=True)
            self.assertEqual((caught.exception.exit_code, caught.exception.stderr.strip()), (7, "why"))
            with self.assertRaises(CommandError):
                sandbox.run("false").check()
        with self.assertRaises(NotFoundError) as missing:
            Sandbox.from_codebase(codebase_id="cb_none", preset="read-only")
        self.assertIsInstance(missing.exception, PaddockError)
        self.assertEqual((missing.exception.id, missing.exception.grpc_code), ("cb_none", 5))
        with self.assertRaises(ValueError):
            Sandbox.from_local("/no/such/directory")

    def test_life_cycle(self) -> None:
        sandbox = Sandbox.from_local(self.directory(LETTERS), preset="full-access", auto_start=False)
        self.assertEqual(sandbox.status, SandboxStatus.STOPPED)
        sandbox.start()
        sandbox.write_file("/workspace/notes.json", '{"a": 1}')
        self.assertTrue(sandbox.stop().start().run("cat notes.json").ok)
        codebase = sandbox.codebase_id
        sandbox.destroy(delete_codebase=False)
        with Sandbox.from_codebase(codebase, preset="read-only", labels={"of": "second"}) as second:
            with Sandbox.connect(second.id) as same:
                self.assertEqual(same.refresh().status, SandboxStatus.RUNNING)
        with SandboxClient() as client:
            client.delete_codebase(codebase)

    def test_presets(self) -> None:
        self.assertEqual(
            list_presets(), ["agent-safe", "development", "full-access", "read-only", "view-only"]
        )
        self.assertIn("none", [rule.permission.value for rule in get_preset("agent-safe")])


class LowLevel(TestCase):
    def test_each_step(self) -> None:
        client = SandboxClient(endpoint="localhost:9000")
        codebase = client.create_codebase(name="letters")
        for path, content in walk_directory(self.directory(LETTERS)):
            self.assertEqual(client.upload_file(codebase.id, path, content).size, len(content))
        files = client.list_files(codebase.id, path="inbox", recursive=True)
        self.assertEqual(
            [(each.path, each.size) for each in files], [("inbox/open.txt", 4), ("inbox/sealed.txt", 6)]
        )
        self.assertEqual(client.download_file(codebase.id, "diary.txt").decode(), "private")
        sandbox = client.create_sandbox(
            codebase_id=codebase.id,
            permissions=[
                {"pattern": "**/*.txt", "permission": "read"},
                PermissionRule(pattern="/drafts/", permission=Permission.WRITE, type=PatternType.DIRECTORY),
            ],
            resources=ResourceLimits(memory_bytes=256 * 1024 * 1024),
            expires_in=timedelta(hours=1),
        )
        self.assertEqual(client.start_sandbox(sandbox.id).status, SandboxStatus.RUNNING)
        result = client.exec(sandbox_id=sandbox.id, command="cat diary.txt", timeout=timedelta(seconds=30))
        self.assertEqual(f"{result.exit_code} {result.stdout}", "0 private")
        self.assertEqual(b"".join(client.exec_stream(sandbox.id, command="echo x")), b"x\n")
        with client.session(sandbox.id) as session:
            session.exec("cd drafts && X=1")
            self.assertEqual(client.session_exec(session.id, "echo $X").stdout, "1\n")
            self.assertEqual([each.id for each in client.list_sessions(sandbox.id)], [session.id])
        self.assertEqual([each.id for each in client.list_sandboxes(codebase_id=codebase.id)], [sandbox.id])
        client.stop_sandbox(sandbox.id)
        client.destroy_sandbox(sandbox.id)
        client.delete_codebase(codebase.id)
        client.close()


class Asynchronous(TestCase):
    def test_several_sandboxes_at_a_time(self) -> None:
        async def one(number: int) -> str:
            async with await AsyncSandbox.from_local(self.directory(LETTERS), preset="read-only") as sandbox:
                async with sandbox.session() as session:
                    await session.exec(f"N={number}")
                    return (await session.exec("echo $N")).stdout

        async def main() -> None:
            results = await asyncio.gather(*[one(n) for n in range(3)])
            self.assertEqual(results, ["0\n", "1\n", "2\n"])
            async with AsyncSandboxClient(endpoint="localhost:9000") as client:
                codebase = await client.create_codebase(name="shared")
                await client.upload_file(codebase.id, "a.txt", b"a")
                sandbox = await client.create_sandbox(
                    codebase.id, permissions=[{"pattern": "**/*", "permission": "read"}]
                )
                await client.start_sandbox(sandbox.id)
                self.assertEqual((await client.exec(sandbox.id, command="cat a.txt")).stdout, "a")
                async for piece in client.exec_stream(sandbox.id, "echo b"):
                    self.assertEqual(piece, b"b\n")
                await client.destroy_sandbox(sandbox.id)
                await client.delete_codebase(codebase.id)

        asyncio.run(main())
