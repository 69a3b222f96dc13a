"""What answers are, and how often calls are sent, as in the other clients. Both clients of this package."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Union

import paddock_sandbox
from both import Retries
from fake import CUT, SILENT, Answer, FakeServer, answer
from paddock_sandbox import Paddock, PaddockError
from test_ignore import spec


def _answer(described: Union[str, Dict[str, Any]]) -> Answer:
    if isinstance(described, str):
        return CUT if described == "cut" else answer(200, {"id": "x"})
    headers = {"retry-after": described["retry_after"]} if "retry_after" in described else {}
    if "code" not in described:
        return answer(described["status"], b"<html>", headers)
    body = {"code": described["code"], "message": "said", "details": described.get("details", [])}
    return answer(described["status"], body, headers)


class Outcomes(Retries):
    def test_the_error_of_one_answer_is_that_of_all_clients(self) -> None:
        for case in spec("errors.json")["cases"]:
            with self.subTest(case["name"]):
                self.each_client(lambda: FakeServer(_answer(case["answer"])), self._error_is(case), max_retries=0)

    def _error_is(self, case: Dict[str, Any]) -> Any:
        def check(client: Any, fake: FakeServer) -> None:
            with self.assertRaises(PaddockError) as caught:
                client.api.get_sandbox(sandbox_id="sb_1")
            error: Any = caught.exception
            self.assertEqual((type(error).__name__, error.code), (case["class"], case["code"]))
            self.assertEqual(getattr(paddock_sandbox, case["class"]), type(error))
            if "code" not in case["answer"]:
                self.assertIn(fake.url, error.message)
            if "resource" in case:
                self.assertEqual([error.resource_type, error.resource_id], case["resource"])
            if "paths" in case:
                self.assertEqual(list(error.paths), case["paths"])
            if "retry_after" in case:
                self.assertEqual(error.retry_after, case["retry_after"])

        return check

    def test_an_error_of_the_client_itself_has_the_code_of_all_clients(self) -> None:
        answers = {"cut": CUT, "silent": SILENT, "port": answer(200, {"ports": []})}
        for case in spec("errors.json")["own"]:
            with self.subTest(case["name"]):
                sandbox = answer(200, {"id": "sb_1", "exit_code": 1})
                given = [sandbox, answers.get(case["call"], sandbox)]
                with FakeServer(*given) as fake, Paddock(url=fake.url, max_retries=0, timeout="200ms") as client:
                    same: Any = client.sandboxes.get("sb_1")
                    calls: Dict[str, Callable[[], Any]] = {
                        "duration": lambda: same.run("true", timeout=5),
                        "paths": lambda: same.changes([]),
                        "check": lambda: same.run("false", check=True),
                        "port": lambda: same.ports.wait(1, timeout="1ms"),
                    }
                    with self.assertRaises(PaddockError) as caught:
                        calls.get(case["call"], same.refresh)()
                error = caught.exception
                self.assertEqual((type(error).__name__, error.code), (case["class"], case["code"]))

    def test_a_call_is_sent_as_often_as_in_all_clients(self) -> None:
        for case in spec("retries.json")["cases"]:
            with self.subTest(case["name"]):
                answers: List[Any] = [_answer(each) for each in case["answers"]]
                self.each_client(lambda: FakeServer(*answers), self._sent(case))

    def _sent(self, case: Dict[str, Any]) -> Any:
        def check(client: Any, fake: FakeServer) -> None:
            calls = {
                "read": lambda: client.api.get_sandbox(sandbox_id="sb_1"),
                "create": lambda: client.api.create_codebase(name="a"),
                "exec": lambda: client.api.exec(sandbox_id="sb_1", command="true"),
                "watch": lambda: list(client.api.watch_process(sandbox_id="sb_1", process_id="p")),
                "remove": lambda: client.api.destroy_sandbox(sandbox_id="sb_1"),
            }
            ended = None
            try:
                calls[case["call"]]()
            except PaddockError as error:
                ended = type(error).__name__
            self.assertEqual((ended, len(fake.requests)), (case.get("class"), case["requests"]))

        return check
