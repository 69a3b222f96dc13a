"""What is sent, against a server that the test directs. Both clients."""

from __future__ import annotations

import io
import itertools
from typing import Any

from both import Retries
from fake import SILENT, FakeServer, answer, error
from paddock_sandbox import InvalidArgumentError, RequestTimeoutError, ResourceExhaustedError


class Bodies(Retries):
    def test_the_refusal_of_large_bytes_is_the_error(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            with self.assertRaises(ResourceExhaustedError):
                client.codebases.write("cb_1", "a", b"x" * 50_000_000)

        self.each_client(lambda: FakeServer(error(429, 8, "full"), read_body=False), check)

    def test_large_bytes_are_sent_with_their_length(self) -> None:
        content = bytes(range(256)) * 4000

        def check(client: Any, fake: FakeServer) -> None:
            self.assertEqual(client.codebases.write("cb_1", "a", content).size, 1)
            self.assertEqual(fake.requests[0]["body"], content)
            self.assertEqual(fake.requests[0]["headers"]["content-length"], str(len(content)))

        self.each_client(lambda: FakeServer(answer(200, {"size": 1})), check)

    def test_sending_has_a_time_limit(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            for content in (b"x" * 50_000_000, itertools.repeat(b"x" * 65536)):
                with self.assertRaises(RequestTimeoutError):
                    client.codebases.upload("cb_1", content)

        self.each_client(lambda: FakeServer(SILENT, SILENT, read_body=False), check, max_retries=0, timeout="200ms")

    def test_no_content_is_refused_and_empties_nothing(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            with self.assertRaisesRegex(InvalidArgumentError, "^content must be text, bytes"):
                client.codebases.write("cb_1", "a", None)
            self.assertEqual(fake.requests, [])

        self.each_client(lambda: FakeServer(answer(200, {"size": 0})), check)

    def test_content_that_is_not_bytes_is_refused(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            for wrong in (io.StringIO("text"), ["text"], 5):
                with self.assertRaises(InvalidArgumentError):
                    client.codebases.write("cb_1", "a", wrong)

        self.each_client(lambda: FakeServer(*[SILENT] * 3, read_body=False), check)

    def test_an_early_answer_ends_an_upload(self) -> None:
        def check(client: Any, fake: FakeServer) -> None:
            with self.assertRaises(ResourceExhaustedError):
                client.codebases.upload("cb_1", itertools.repeat(b"x" * 65536))

        self.each_client(lambda: FakeServer(error(429, 8, "full"), read_body=False), check)
