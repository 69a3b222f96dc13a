"""What is left on the service when something fails: nothing that nobody asked for, and all that is work."""

from __future__ import annotations

import asyncio
from typing import Any, List
from unittest import mock

from paddock_sandbox import (
    AsyncSandbox,
    Codebase,
    ConnectionFailedError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    Paddock,
    Sandbox,
    messages,
)
from paddock_sandbox._async.api import AsyncApi
from paddock_sandbox._sync.api import Api
from paddock_sandbox.messages import CommitResponse, ForkError, ForkResponse, ForkResult, NetworkPolicy, SecretBinding
from support import TestCase

CODEBASE = Codebase(id="cb_1")
SANDBOX = messages.Sandbox(id="sb_1", codebase_id="cb_1")


class Listed(list):  # type: ignore[type-arg]
    """A list of the service for both clients."""

    async def __aiter__(self) -> Any:
        for each in self:
            yield each


def fake(kind: Any) -> Any:
    """A client whose operations all succeed."""
    api = mock.create_autospec(kind, instance=True)
    api.create_codebase.return_value = CODEBASE
    api.create_sandbox.return_value = SANDBOX
    api.list_sandboxes.return_value = Listed()
    api.commit.return_value = CommitResponse()
    return mock.Mock(api=api)


def called(client: Any) -> List[str]:
    return [name for name, _, _ in client.api.method_calls]


class Creation(TestCase):
    def test_a_codebase_whose_sandbox_cannot_be_made_is_deleted(self) -> None:
        client = fake(Api)
        client.api.create_sandbox.side_effect = [SANDBOX, ConnectionFailedError("cut")]
        client.api.list_sandboxes.side_effect = [Listed([SANDBOX]), Listed()]
        client.api.delete_codebase.side_effect = [FailedPreconditionError("in use"), None]
        with self.assertRaises(ConnectionFailedError), mock.patch("paddock_sandbox._sync.making.sleep"):
            Sandbox.create(self.directory({}), paddock=client)
        self.assertEqual(
            called(client)[3:],
            ["create_sandbox", "list_sandboxes", "destroy_sandbox", "delete_codebase", "list_sandboxes"]
            + ["delete_codebase"],
        )
        client.close.assert_not_called()

    def test_a_cancelled_creation_leaves_nothing(self) -> None:
        async def main(waits: str) -> Any:
            client = fake(AsyncApi)
            begun = asyncio.Event()
            made = CODEBASE if waits == "create_codebase" else SANDBOX
            first = True

            async def wait(**options: Any) -> Any:
                nonlocal first
                if first and not options.get("validate_only"):
                    first = False
                    begun.set()
                    await asyncio.Event().wait()
                return made

            getattr(client.api, waits).side_effect = wait
            task = asyncio.ensure_future(AsyncSandbox.create(self.directory({}), paddock=client))
            await begun.wait()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            return client

        client = asyncio.run(main("create_codebase"))
        self.assertEqual(called(client), ["create_codebase", "create_codebase", "delete_codebase"])
        first, second = client.api.create_codebase.call_args_list
        self.assertEqual(first, second)
        self.assertTrue(first.kwargs["idempotency_key"])
        client = asyncio.run(main("create_sandbox"))
        self.assertEqual(
            called(client)[3:],
            ["create_sandbox", "create_sandbox", "destroy_sandbox", "list_sandboxes", "delete_codebase"],
        )


class Ownership(TestCase):
    def made(self, **options: Any) -> Any:
        return Sandbox.create(self.directory({}), paddock=fake(Api), **options)

    def deletes(self, sandbox: Any) -> bool:
        sandbox.destroy()
        return bool(sandbox.api.delete_codebase.called)

    def test_a_codebase_that_may_hold_work_stays(self) -> None:
        self.assertTrue(self.deletes(self.made()))
        self.assertFalse(self.deletes(self.made(auto_commit="on_stop")))
        self.assertFalse(self.deletes(self.made(keep_codebase=True)))
        self.assertTrue(self.deletes(self.made(auto_commit="never")))
        sandbox = self.made()
        sandbox.commit(dry_run=True)
        self.assertTrue(self.deletes(sandbox))
        sandbox = self.made()
        sandbox.api.commit.side_effect = ConnectionFailedError("the answer is lost")
        with self.assertRaises(ConnectionFailedError):
            sandbox.commit()
        self.assertFalse(self.deletes(sandbox))
        sandbox = self.made()
        sandbox.api.commit.side_effect = sandbox.api.fork.side_effect = InvalidArgumentError("refused as it is")
        for refused in (sandbox.commit, sandbox.fork):
            with self.assertRaises(InvalidArgumentError):
                refused()
        self.assertTrue(self.deletes(sandbox))
        sandbox = self.made()
        sandbox.api.fork.return_value = ForkResponse((ForkResult(SANDBOX),))
        sandbox.fork()
        self.assertFalse(self.deletes(sandbox))

    def test_the_network_and_the_secrets_are_those_of_the_creation(self) -> None:
        network, secrets = NetworkPolicy(mode="open"), [SecretBinding(name="a", variable="A")]
        sandbox = self.made(network=network, secrets=secrets)
        given = sandbox.api.create_sandbox.call_args.kwargs
        self.assertEqual((given["network"], given["secrets"]), (network, secrets))

    def test_options_of_the_calls_are_those_of_each(self) -> None:
        sandbox = self.made(timeout="9s", max_retries=1)
        for operation in ("create_codebase", "import_codebase_files", "create_sandbox"):
            given = getattr(sandbox.api, operation).call_args.kwargs
            self.assertEqual((given["timeout"], given["max_retries"]), ("9s", 1))

    def test_destroy_can_be_tried_again(self) -> None:
        sandbox = self.made()
        failed, gone = FailedPreconditionError("the commit failed"), NotFoundError("gone")
        gone.resource_type = "sandbox"
        sandbox.api.destroy_sandbox.side_effect = [failed, gone]
        sandbox.api.delete_codebase.side_effect = [gone]
        with self.assertRaises(FailedPreconditionError):
            sandbox.destroy()
        sandbox.destroy(discard=True)
        sandbox.destroy()
        self.assertEqual(sandbox.api.destroy_sandbox.call_count, 2)
        self.assertEqual(sandbox.api.delete_codebase.call_count, 1)

    def test_a_fork_that_fails_has_the_error_of_the_service(self) -> None:
        sandbox = self.made()
        failed = ForkResult(error=ForkError(9, "the sandbox is not running"))
        sandbox.api.fork.return_value = ForkResponse((ForkResult(SANDBOX), failed))
        with self.assertRaises(FailedPreconditionError):
            sandbox.forks(2)
        sandbox.api.destroy_sandbox.assert_called_once_with(sandbox_id="sb_1", discard=True)


class Selection(TestCase):
    def test_no_paths_are_not_all_of_them(self) -> None:
        with Paddock(url="http://127.0.0.1:1") as client:
            sandbox = Sandbox(client.api, SANDBOX)
            calls = (sandbox.discard, sandbox.commit, sandbox.changes, sandbox.patch)
            for wrong in ([], (), "src"):
                for call in calls:
                    with self.assertRaises(InvalidArgumentError):
                        call(wrong)  # type: ignore[operator]
                with self.assertRaises(InvalidArgumentError):
                    sandbox.pull(self.directory({}), wrong)
