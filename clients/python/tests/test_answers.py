"""Answers that are no success, against a server that the test directs. Both clients."""

from __future__ import annotations

import json
from typing import Any

from both import Retries
from fake import CUT, FakeServer, answer
from paddock_sandbox import ConnectionFailedError, InvalidArgumentError


class Answers(Retries):
    def test_an_answer_that_is_cut_or_no_json_is_no_success(self) -> None:
        # Without a length the end of the connection is the end of the body.
        cut = b'HTTP/1.1 200 x\r\nconnection: close\r\n\r\n{"stdout":"x","exit'

        def check(client: Any, fake: FakeServer) -> None:
            for _ in range(3):
                with self.assertRaises(ConnectionFailedError):
                    client.api.exec(sandbox_id="sb_1", command="true")
            self.assertEqual(len(fake.requests), 3)

        answers = [answer(200, b"<html>log in</html>"), answer(200, b""), cut]
        self.each_client(lambda: FakeServer(*answers), check)

    def test_an_idempotency_key_cannot_be_another_header(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            for wrong in ("a\r\nx: y", "", "a b", "ä", "a" * 256, '"a'):
                with self.assertRaises(InvalidArgumentError):
                    client.api.create_codebase(name="x", idempotency_key=wrong)
            client.api.create_codebase(name="x", idempotency_key="aZ0-._~:/+=@")
            self.assertEqual(len(fake.requests), 1)

        self.each_client(lambda: FakeServer(answer(200, {"id": "cb_1"})), check)

    def test_the_secret_of_a_key_is_never_empty(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            self.assertEqual(client.keys.create("x", owner_id="o").secret, "pdk_2")
            self.assertEqual([each["method"] for each in fake.requests], ["POST", "POST", "DELETE", "POST"])
            self.assertEqual(fake.requests[2]["target"], "/v1/keys/k1")
            keys = [each["headers"].get("idempotency-key") for each in fake.requests]
            self.assertNotEqual(keys[1], keys[3])

        lost = answer(200, {"key": {"id": "k1"}, "notice": "repeated"})
        new = answer(200, {"key": {"id": "k2"}, "secret": "pdk_2"})
        self.each_client(lambda: FakeServer(CUT, lost, answer(200, {}), new), check)

    def test_a_secret_has_the_header_that_it_goes_into(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            secret = client.secrets.put("a", "a-value-of-it", ["a.example"], header="x-api-key")
            self.assertEqual(secret.header, "x-api-key")
            self.assertEqual(json.loads(fake.requests[0]["body"])["header"], "x-api-key")

        self.each_client(lambda: FakeServer(answer(200, {"name": "a", "header": "x-api-key"})), check)
