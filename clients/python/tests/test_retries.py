"""Retries, cut connections and refusals, against a server that the test directs. Both clients."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import ssl
import subprocess
from typing import Any, Callable
from unittest import mock

from fake import CUT, SILENT, FakeServer, answer, error
from paddock_sandbox import (
    AsyncSandboxClient,
    AuthenticationError,
    ConnectionError,
    NotConnectedError,
    RateLimitError,
    RequestTimeoutError,
    ResourceLimitExceededError,
    SandboxClient,
    SandboxError,
    UnavailableError,
)
from support import TestCase

SANDBOX = answer(200, {"id": "sb_1", "status": "SANDBOX_RUNNING", "of_a_newer_server": 1})
BUSY = error(429, 8, "too many requests", headers={"retry-after": "0"})


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
        with self.subTest("sync"), server() as fake, SandboxClient(url=fake.url, **options) as client:
            check(client, fake)

        async def main() -> None:
            with server() as fake:
                async with AsyncSandboxClient(url=fake.url, **options) as client:
                    await AsyncChecks(check, client, fake).run()

        with self.subTest("async"):
            asyncio.run(main())


class AsyncChecks:
    """Runs a check that is written for the synchronous client with the asynchronous one, in a thread."""

    def __init__(
        self, check: Callable[[Any, FakeServer], Any], client: AsyncSandboxClient, fake: FakeServer
    ) -> None:
        self._check, self._client, self._fake = check, client, fake

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._check, _Blocking(self._client, loop), self._fake)


class _Blocking:
    def __init__(self, client: AsyncSandboxClient, loop: asyncio.AbstractEventLoop) -> None:
        self._client, self._loop = client, loop

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)

        def call(*arguments: Any, **options: Any) -> Any:
            async def run() -> Any:
                return await outcome(method(*arguments, **options))

            return asyncio.run_coroutine_threadsafe(run(), self._loop).result()

        return call


class Repeated(Retries):
    def test_a_read_is_repeated_after_a_cut_connection(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            self.assertEqual(client.get_sandbox("sb_1").id, "sb_1")
            self.assertEqual(len(fake.requests), 3)

        self.each_client(lambda: FakeServer(CUT, answer(200, b'{"id', length=50), SANDBOX), check)

    def test_a_creation_is_repeated_with_the_same_idempotency_key(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            client.create_sandbox("cb_1", [{"pattern": "src/**", "permission": "write"}])
            client.create_sandbox("cb_1")
            keys = [each["headers"].get("idempotency-key") for each in fake.requests]
            self.assertEqual(keys[0], keys[1])
            self.assertNotEqual(keys[1], keys[2])
            self.assertIsNotNone(keys[2])
            self.assertEqual(fake.requests[0]["body"], fake.requests[1]["body"])
            self.assertIn(b'"PERMISSION_WRITE"', fake.requests[0]["body"])

        self.each_client(lambda: FakeServer(CUT, SANDBOX, SANDBOX), check)

    def test_a_command_is_never_sent_twice(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            with self.assertRaises(ConnectionError):
                client.exec("sb_1", "true")
            with self.assertRaises(UnavailableError):
                client.exec("sb_1", "true")
            self.assertEqual(len(fake.requests), 2)

        self.each_client(lambda: FakeServer(CUT, error(503, 14, "not now"), SANDBOX), check)

    def test_a_refusal_for_now_is_repeated_whatever_the_operation(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            self.assertEqual(client.exec("sb_1", "true").stdout, "x")
            self.assertEqual(len(fake.requests), 3)

        self.each_client(lambda: FakeServer(BUSY, BUSY, answer(200, {"stdout": "x"})), check)

    def test_the_last_refusal_is_the_error(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            with self.assertRaises(RateLimitError) as caught:
                client.get_sandbox("sb_1")
            self.assertEqual((caught.exception.retry_after, len(fake.requests)), (0, 2))
            with self.assertRaises(RateLimitError) as caught:
                client.get_sandbox("sb_1")
            self.assertEqual((caught.exception.retry_after, len(fake.requests)), (3600.5, 3))
            with self.assertRaises(ResourceLimitExceededError) as limit:
                client.get_sandbox("sb_1")
            self.assertNotIsInstance(limit.exception, RateLimitError)
            self.assertEqual(len(fake.requests), 4)

        later = error(429, 8, "later", [{"@type": "x", "retryDelay": "3600.500s"}])
        self.each_client(
            lambda: FakeServer(BUSY, BUSY, later, error(429, 8, "full"), SANDBOX), check, attempts=2
        )

    def test_a_removal_whose_answer_was_lost_has_worked(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            client.destroy_sandbox("sb_1")
            with self.assertRaises(SandboxError):
                client.destroy_sandbox("sb_1")

        gone = error(404, 5, 'sandbox "sb_1" does not exist')
        self.each_client(lambda: FakeServer(CUT, gone, gone), check)

    def test_a_closed_idle_connection_is_not_used(self) -> None:
        close = answer(200, {"stdout": "x"}, {"connection": "close"})
        silent = answer(200, {"stdout": "x"})

        def check(client: Any, fake: FakeServer) -> None:
            for _ in range(3):
                self.assertEqual(client.exec("sb_1", "true").stdout, "x")

        self.each_client(lambda: FakeServer(close, silent, silent), check)


class Streams(Retries):
    def test_a_watch_goes_on_where_it_was_cut(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            events = list(client.watch_process("sb_1", "p"))
            self.assertEqual(b"".join(each.data for each in events), b"abcd")
            offsets = [each["target"].partition("offset=")[2] for each in fake.requests]
            self.assertEqual(offsets, ["0", "2", "2"])

        first = b'{"data":"YWI=","stream":"stdout","next":2}\n{"data":"bG9z'
        last = b'{"keepalive":true}\n{"data":"Y2Q=","stream":"stdout","next":4}\n{"end":{"reason":"exited"},"next":4}\n'
        self.each_client(lambda: FakeServer(answer(200, first, length=900), CUT, answer(200, last)), check)

    def test_a_stream_without_its_end_is_an_error(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            with self.assertRaises(ConnectionError):
                list(client.exec_stream("sb_1", "true"))
            with self.assertRaises(AuthenticationError):
                list(client.exec_stream("sb_1", "true"))
            self.assertEqual(len(fake.requests), 2)

        piece = b'{"data":"YWI=","stream":"STDOUT"}\n'
        failed = b'{"error":{"code":16,"message":"the key was revoked","details":[]}}\n'
        self.each_client(lambda: FakeServer(answer(200, piece), answer(200, piece + failed)), check)

    def test_an_early_answer_ends_an_upload(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            with self.assertRaises(ResourceLimitExceededError):
                client.import_codebase("cb_1", itertools.repeat(b"x" * 65536))

        self.each_client(lambda: FakeServer(error(429, 8, "full"), read_body=False), check)


class Connections(Retries):
    def test_an_upload_is_repeated_from_its_beginning(self) -> None:
        directory = self.directory()

        def check(client: Any, fake: FakeServer) -> None:
            self.assertEqual(client.upload_directory("cb_1", directory).files, 4)
            first, second = fake.requests
            self.assertEqual(first["body"], second["body"])
            self.assertIn(b"main.py", first["body"])

        self.each_client(lambda: FakeServer(CUT, answer(200, {"files": 4})), check)

    def test_nobody_listens(self) -> None:
        with FakeServer() as fake:
            url = fake.url
        with SandboxClient(url=url, attempts=2) as client, self.assertRaises(NotConnectedError) as caught:
            client.exec("sb_1", "true")
        self.assertIn(url, str(caught.exception))

    def test_a_server_that_says_nothing_is_given_up(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            with self.assertRaises(RequestTimeoutError):
                client.health()

        self.each_client(lambda: FakeServer(SILENT), check, attempts=1, timeout=0.2)

    def test_an_upload_can_be_the_first_request_over_tls(self) -> None:
        directory = self.directory({})
        key, certificate = f"{directory}/key.pem", f"{directory}/certificate.pem"
        make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        names = ["-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"]
        subprocess.run([*make, "-keyout", key, "-out", certificate, *names], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)

        def check(client: Any, fake: FakeServer) -> None:
            # More than the buffers of both ends hold: the server's tickets arrive before the last piece.
            pieces = itertools.repeat(b"x" * 65536, 320)
            self.assertEqual(client.upload_file("cb_1", "a", pieces).size, 1)
            self.assertEqual(len(fake.requests[0]["body"]), 320 * 65536)
            self.assertTrue(client.health())

        answers = [answer(200, {"size": 1}), answer(200, {})]
        self.each_client(lambda: FakeServer(*answers, tls=context), check, ca_file=certificate, timeout=10)
        with FakeServer(tls=context) as fake, SandboxClient(url=fake.url, attempts=1) as client:
            with self.assertRaises(NotConnectedError):
                client.health()

    def test_the_key_is_sent_and_not_shown(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            client.get_sandbox("a b/ä")
            self.assertEqual(fake.requests[0]["headers"]["authorization"], "Bearer pdk_secret")
            self.assertEqual(fake.requests[0]["target"], "/v1/sandboxes/a%20b%2F%C3%A4")

        self.each_client(lambda: FakeServer(SANDBOX), check, key="pdk_secret")
        client = SandboxClient(url="http://127.0.0.1:1", key="pdk_secret")
        self.assertNotIn("secret", repr(client._settings))
