"""What is left on the service when something fails: nothing that nobody asked for, and all that is work."""

from __future__ import annotations

import asyncio
from typing import Any, List
from unittest import mock

from paddock_sandbox import (
    AsyncSandbox,
    AsyncSandboxClient,
    Codebase,
    ConnectionFailedError,
    InvalidArgumentError,
    NotFoundError,
    FailedPreconditionError,
    Sandbox,
    SandboxClient,
    SandboxInfo,
)
from paddock_sandbox.messages import CommitResponse, ForkError, ForkResponse, ForkResult, NetworkPolicy, SecretBinding
from support import TestCase

CODEBASE = Codebase(id="cb_1")
SANDBOX = SandboxInfo(id="sb_1", codebase_id="cb_1")


def fake(kind: Any) -> Any:
    """A client whose operations all succeed."""
    client = mock.create_autospec(kind, instance=True)
    client.create_codebase.return_value = CODEBASE
    client.create_sandbox.return_value = client.stop_sandbox.return_value = SANDBOX
    client.list_sandboxes.return_value = []
    client.commit.return_value = CommitResponse()
    return client


def called(client: Any) -> List[str]:
    return [name for name, _, _ in client.method_calls]


class Creation(TestCase):
    def test_a_sandbox_that_cannot_be_stopped_is_destroyed(self) -> None:
        client = fake(SandboxClient)
        client.stop_sandbox.side_effect = ConnectionFailedError("cut")
        client.list_sandboxes.side_effect = [[SANDBOX], []]
        client.delete_codebase.side_effect = [FailedPreconditionError("in use"), None]
        with self.assertRaises(ConnectionFailedError), mock.patch("paddock_sandbox._sync.making.sleep"):
            Sandbox.from_local(self.directory({}), auto_start=False, client=client)
        self.assertEqual(
            called(client)[3:],
            ["create_sandbox", "stop_sandbox", "destroy_sandbox"]
            + ["list_sandboxes", "destroy_sandbox", "delete_codebase", "list_sandboxes", "delete_codebase"],
        )
        client.close.assert_not_called()

    def test_a_cancelled_creation_leaves_nothing(self) -> None:
        async def main(waits: str) -> Any:
            client = fake(AsyncSandboxClient)
            begun = asyncio.Event()
            made = CODEBASE if waits == "create_codebase" else SANDBOX
            first = True

            async def wait(*_: Any, **options: Any) -> Any:
                nonlocal first
                if first and not options.get("validate_only"):
                    first = False
                    begun.set()
                    await asyncio.Event().wait()
                return made

            getattr(client, waits).side_effect = wait
            task = asyncio.ensure_future(AsyncSandbox.from_local(self.directory({}), client=client))
            await begun.wait()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            return client

        client = asyncio.run(main("create_codebase"))
        self.assertEqual(called(client), ["create_codebase", "create_codebase", "delete_codebase"])
        first, second = client.create_codebase.call_args_list
        self.assertEqual(first, second)
        self.assertTrue(first.kwargs["idempotency_key"])
        client = asyncio.run(main("create_sandbox"))
        self.assertEqual(
            called(client)[3:],
            ["create_sandbox", "create_sandbox", "destroy_sandbox", "list_sandboxes", "delete_codebase"],
        )

    def test_the_arguments_of_the_connection_are_named(self) -> None:
        options = {"url": "http://127.0.0.1:1", "key": "k", "timeout": "1s", "connect_timeout": "2s", "attempts": 1}
        with self.assertRaises(ConnectionFailedError):
            Sandbox.from_local(self.directory({}), **options)
        with self.assertRaises(ConnectionFailedError):
            Sandbox.from_codebase("cb_1", **options)


class Ownership(TestCase):
    def made(self, **options: Any) -> Any:
        return Sandbox.from_local(self.directory({}), client=fake(SandboxClient), **options)

    def deletes(self, sandbox: Any) -> bool:
        sandbox.destroy()
        return "delete_codebase" in called(sandbox.client)

    def test_a_codebase_that_may_hold_work_stays(self) -> None:
        self.assertTrue(self.deletes(self.made()))
        self.assertFalse(self.deletes(self.made(auto_commit="on_stop")))
        self.assertTrue(self.deletes(self.made(auto_commit="never")))
        sandbox = self.made()
        sandbox.commit(dry_run=True)
        self.assertTrue(self.deletes(sandbox))
        sandbox = self.made()
        sandbox.client.commit.side_effect = ConnectionFailedError("the answer is lost")
        with self.assertRaises(ConnectionFailedError):
            sandbox.commit()
        self.assertFalse(self.deletes(sandbox))
        sandbox = self.made()
        sandbox.client.fork.return_value = ForkResponse((ForkResult(SANDBOX),))
        sandbox.fork()
        self.assertFalse(self.deletes(sandbox))

    def test_the_network_and_the_secrets_are_those_of_the_creation(self) -> None:
        network, secrets = NetworkPolicy(mode="open"), [SecretBinding(name="a", variable="A")]
        sandbox = self.made(network=network, secrets=secrets)
        given = sandbox.client.create_sandbox.call_args.kwargs
        self.assertEqual((given["network"], given["secrets"]), (network, secrets))

    def test_destroy_can_be_tried_again(self) -> None:
        sandbox = self.made()
        failed = FailedPreconditionError("the commit failed")
        sandbox.client.destroy_sandbox.side_effect = [failed, NotFoundError("gone")]
        sandbox.client.delete_codebase.side_effect = [NotFoundError("gone")]
        with self.assertRaises(FailedPreconditionError):
            sandbox.destroy()
        sandbox.destroy(discard=True)
        sandbox.destroy()
        self.assertEqual(sandbox.client.destroy_sandbox.call_count, 2)
        self.assertEqual(sandbox.client.delete_codebase.call_count, 1)

    def test_a_fork_that_fails_has_the_error_of_the_service(self) -> None:
        sandbox = self.made()
        failed = ForkResult(error=ForkError(9, "the sandbox is not running"))
        sandbox.client.fork.return_value = ForkResponse((ForkResult(SANDBOX), failed))
        with self.assertRaises(FailedPreconditionError):
            sandbox.fork(2)
        sandbox.client.destroy_sandbox.assert_called_once_with("sb_1", discard=True)


class Selection(TestCase):
    def test_no_paths_are_not_all_of_them(self) -> None:
        with SandboxClient(url="http://127.0.0.1:1") as client:
            for wrong in ([], (), "src"):
                for call in (client.discard, client.commit, client.list_changes, client.patch):
                    with self.assertRaises(InvalidArgumentError):
                        call("sb_1", wrong)
                with self.assertRaises(InvalidArgumentError):
                    Sandbox(client, SANDBOX).pull(self.directory({}), wrong)
