"""Retries and cut connections, against a server that the test directs. Both clients."""

from __future__ import annotations

import itertools
import json
import ssl
import subprocess
from typing import Any
from unittest import mock

from both import Retries
from fake import CUT, SILENT, FakeServer, answer
from paddock_sandbox import (
    AsyncPaddock,
    UnauthenticatedError,
    CommandTimeoutError,
    ConnectionFailedError,
    RequestTimeoutError,
    Sandbox,
    Paddock,
    messages,
)

SANDBOX = answer(200, {"id": "sb_1", "status": "SANDBOX_RUNNING", "of_a_newer_server": 1})


class Repeated(Retries):
    def test_a_read_is_repeated_after_a_cut_connection(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            self.assertEqual(client.api.get_sandbox(sandbox_id="sb_1").id, "sb_1")
            self.assertEqual(len(fake.requests), 3)

        self.each_client(lambda: FakeServer(CUT, answer(200, b'{"id', length=50), SANDBOX), check)

    def test_a_creation_is_repeated_with_the_same_idempotency_key(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            client.api.create_sandbox(codebase_id="cb_1", permissions=[{"pattern": "src/**", "permission": "write"}])
            client.api.create_sandbox(codebase_id="cb_1")
            keys = [each["headers"].get("idempotency-key") for each in fake.requests]
            self.assertEqual(keys[0], keys[1])
            self.assertNotEqual(keys[1], keys[2])
            self.assertIsNotNone(keys[2])
            self.assertEqual(fake.requests[0]["body"], fake.requests[1]["body"])
            self.assertIn(b'"PERMISSION_WRITE"', fake.requests[0]["body"])

        self.each_client(lambda: FakeServer(CUT, SANDBOX, SANDBOX), check)

    def test_a_closed_idle_connection_is_not_used(self) -> None:
        close = answer(200, {"stdout": "x"}, {"connection": "close"})
        silent = answer(200, {"stdout": "x"})

        def check(client: Any, fake: FakeServer) -> None:
            for _ in range(3):
                self.assertEqual(client.api.exec(sandbox_id="sb_1", command="true").stdout, "x")

        self.each_client(lambda: FakeServer(close, silent, silent), check)


class Options(Retries):
    def test_a_call_has_its_own_number_of_repetitions(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            with self.assertRaises(ConnectionFailedError):
                client.api.get_sandbox(sandbox_id="sb_1", max_retries=0)
            self.assertEqual(len(fake.requests), 1)
            client.api.get_sandbox(sandbox_id="sb_1", max_retries=2)
            self.assertEqual(len(fake.requests), 4)

        self.each_client(lambda: FakeServer(CUT, CUT, CUT, SANDBOX), check, max_retries=0)

    def test_a_call_has_its_own_time_limit(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            with self.assertRaises(RequestTimeoutError):
                client.api.get_sandbox(sandbox_id="sb_1", timeout="200ms", max_retries=0)
            self.assertEqual(fake.requests[0]["target"], "/v1/sandboxes/sb_1")
            with self.assertRaises(RequestTimeoutError):
                list(client.api.watch_network(sandbox_id="sb_1", timeout="200ms", max_retries=0))

        self.each_client(lambda: FakeServer(SILENT, SILENT), check)

    def test_the_time_limit_of_a_command_is_in_its_request(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            client.api.exec(sandbox_id="sb_1", command="true", timeout="1m")
            self.assertEqual(json.loads(fake.requests[0]["body"]), {"command": "true", "timeout": 60})

        self.each_client(lambda: FakeServer(answer(200, {})), check, timeout="1s")

    def test_a_list_is_asked_for_page_by_page(self) -> None:
        with FakeServer(*PAGES) as fake, Paddock(url=fake.url) as client:
            found = client.sandboxes.list(labels={"a": "b"})
            self.assertEqual((next(found).id, next(found).status, len(fake.requests)), ("sb_1", "stopped", 1))
            self.assertEqual([each.id for each in found], ["sb_3"])
        self.assertIn("labels.a=b", fake.requests[1]["target"])
        self.assertIn("page_token=next", fake.requests[1]["target"])


PAGES = (
    answer(200, {"sandboxes": [{"id": "sb_1"}, {"status": "SANDBOX_STOPPED"}], "next_page_token": "next"}),
    answer(200, {"sandboxes": [{"id": "sb_3"}], "next_page_token": ""}),
)


class Streams(Retries):
    def test_a_callback_that_raises_ends_the_command(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            def fail(_: str) -> None:
                raise ZeroDivisionError

            sandbox = Sandbox(client.api, messages.Sandbox(id="sb_1"))
            try:
                sandbox.run("true", on_stdout=fail)
            except ZeroDivisionError as error:
                # Its traceback has the frames of the generators, as in a program that logs it.
                self.kept = error
                self.eventually(lambda: fake.left == 1)
            else:
                self.fail("the exception of the callback is raised")

        piece = b'{"data":"YWI=","stream":"STDOUT"}\n'
        with FakeServer(answer(200, piece, length=900), stay=True) as fake, Paddock(url=fake.url) as client:
            check(client, fake)

    def test_a_timeout_has_the_output_that_callbacks_were_given(self) -> None:
        piece = b'{"data":"YWI=","stream":"STDOUT"}\n'
        late = b'{"error":{"code":4,"message":"1 s","details":[]}}\n'
        with FakeServer(answer(200, piece + late)) as fake, Paddock(url=fake.url) as client:
            with self.assertRaises(CommandTimeoutError) as caught:
                Sandbox(client.api, messages.Sandbox(id="sb_1")).run("true", on_stdout=len)
            self.assertEqual(caught.exception.stdout, "ab")

    def test_waiting_may_take_longer_than_the_time_limit_of_the_client(self) -> None:
        failed = ConnectionFailedError("x")
        with mock.patch("paddock_sandbox._sync.transport.Transport.send", side_effect=failed) as sent:
            with Paddock(url="http://127.0.0.1:1", timeout="1s", max_retries=0) as client:
                for wait in ("30s", None):
                    with self.assertRaises(ConnectionFailedError):
                        client.api.read_process_output(sandbox_id="sb_1", process_id="p", wait=wait)
        self.assertEqual([each.args[0].timeout for each in sent.call_args_list], [90, 1])

    def test_a_watch_goes_on_where_it_was_cut(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            events = list(client.api.watch_process(sandbox_id="sb_1", process_id="p"))
            self.assertEqual(b"".join(each.data for each in events), b"abcd")
            offsets = [each["target"].partition("offset=")[2] for each in fake.requests]
            self.assertEqual(offsets, ["", "2", "2"])

        first = b'{"data":"YWI=","stream":"stdout","next":2}\n{"data":"bG9z'
        last = b'{"keepalive":true}\n{"data":"Y2Q=","stream":"stdout","next":4}\n{"end":{"reason":"exited"},"next":4}\n'
        self.each_client(lambda: FakeServer(answer(200, first, length=900), CUT, answer(200, last)), check)

    def test_a_stream_without_its_end_is_an_error(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            with self.assertRaises(ConnectionFailedError):
                list(client.api.exec_stream(sandbox_id="sb_1", command="true"))
            with self.assertRaises(UnauthenticatedError):
                list(client.api.exec_stream(sandbox_id="sb_1", command="true"))
            self.assertEqual(len(fake.requests), 2)

        piece = b'{"data":"YWI=","stream":"STDOUT"}\n'
        failed = b'{"error":{"code":16,"message":"the key was revoked","details":[]}}\n'
        self.each_client(lambda: FakeServer(answer(200, piece), answer(200, piece + failed)), check)


class Connections(Retries):
    def test_an_upload_is_repeated_from_its_beginning(self) -> None:
        directory = self.directory()

        def check(client: Any, fake: FakeServer) -> None:
            self.assertEqual(client.codebases.upload("cb_1", directory).files, 4)
            first, second = fake.requests
            self.assertEqual(first["body"], second["body"])
            self.assertIn(b"main.py", first["body"])

        self.each_client(lambda: FakeServer(CUT, answer(200, {"files": 4})), check)

    def test_nobody_listens(self) -> None:
        with FakeServer() as fake:
            url = fake.url
        with Paddock(url=url, max_retries=1) as client, self.assertRaises(ConnectionFailedError) as caught:
            client.api.exec(sandbox_id="sb_1", command="true")
        self.assertIn(url, str(caught.exception))
        self.assertTrue(caught.exception.unsent)

    def test_a_server_that_says_nothing_is_given_up(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            with self.assertRaises(RequestTimeoutError):
                client.health()

        self.each_client(lambda: FakeServer(SILENT), check, max_retries=0, timeout="200ms")

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
            self.assertEqual(client.codebases.write("cb_1", "a", pieces).size, 1)
            self.assertEqual(len(fake.requests[0]["body"]), 320 * 65536)
            client.health()

        answers = [answer(200, {"size": 1}), answer(200, {})]
        self.each_client(lambda: FakeServer(*answers, tls=context), check, ca_file=certificate, timeout="10s")
        with FakeServer(tls=context) as fake, Paddock(url=fake.url, max_retries=0) as client:
            with self.assertRaises(ConnectionFailedError):
                client.health()

    def test_a_proxy_of_the_environment_is_used(self) -> None:
        with FakeServer(SANDBOX) as fake, mock.patch.dict("os.environ", {"http_proxy": fake.url, "no_proxy": ""}):
            with Paddock(url="http://paddock.invalid:8080/base") as client:
                self.assertEqual(client.api.get_sandbox(sandbox_id="sb_1").id, "sb_1")
            self.assertEqual(fake.requests[0]["target"], "http://paddock.invalid:8080/base/v1/sandboxes/sb_1")

    def test_dots_in_the_name_of_a_file_are_sent(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            client.api.read_file(sandbox_id="sb_1", path="a/..b/.c").read()
            self.assertEqual(fake.requests[0]["target"], "/v1/sandboxes/sb_1/files/a/..b/.c")

        self.each_client(lambda: FakeServer(answer(200, b"")), check)

    def test_the_key_is_sent_and_not_shown(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            client.api.get_sandbox(sandbox_id="a b/ä")
            self.assertEqual(fake.requests[0]["headers"]["authorization"], "Bearer pdk_secret")
            self.assertEqual(fake.requests[0]["target"], "/v1/sandboxes/a%20b%2F%C3%A4")

        self.each_client(lambda: FakeServer(SANDBOX), check, key="pdk_secret")
        client = Paddock(url="http://127.0.0.1:1", key="pdk_secret")
        for shown in (client, client.api._settings, AsyncPaddock(url="http://127.0.0.1:1", key="pdk_secret")):
            self.assertNotIn("secret", repr(shown))
