"""Calls that are refused before a request leaves, as in the other clients."""

from __future__ import annotations

import inspect
from typing import Any, Dict

from fake import FakeServer
from paddock_sandbox import InvalidArgumentError, Paddock, Process, Sandbox, Session
from paddock_sandbox import messages
from support import TestCase
from test_ignore import spec


class Options(TestCase):
    def call(self, case: Dict[str, Any], options: Dict[str, Any]) -> None:
        """Carries out a call, after which nothing was sent."""
        directory = self.directory({})
        arguments = [directory if each == "$DIRECTORY" else each for each in case.get("arguments", ())]
        with FakeServer() as fake, Paddock(url=fake.url) as client:
            sandbox = Sandbox(client.api, messages.Sandbox(id="sb_1", codebase_id="cb_1"))
            session = Session(client.api, messages.Session(id="se_1"))
            process = Process(client.api, messages.Process(sandbox_id="sb_1", process_id="p_1"))
            part, _, name = case["method"].rpartition(".")
            roots = {"": sandbox, "session": session, "process": process, **vars(sandbox), **vars(client)}
            try:
                answer = getattr(roots[part], name)(*arguments, **options)
                if inspect.isgenerator(answer):
                    next(answer)
            finally:
                self.assertEqual(fake.requests, [])

    def test_an_option_that_a_method_does_not_have_is_refused_by_its_name(self) -> None:
        for case in spec("options.json")["options"]:
            with self.subTest(f"{case['method']} {case['option']}"):
                refused, sentence = InvalidArgumentError, f"{case['option']} is not a known option; allowed are "
                if case.get("again"):
                    refused, sentence = TypeError, "multiple values"
                with self.assertRaisesRegex(refused, sentence) as caught:
                    self.call(case, {case["option"]: "x"})
                self.assertNotIn(case["option"], str(caught.exception).split("allowed are ")[-1].split(", "))
                self.assertTrue(str(caught.exception).endswith(case.get("hint", "")))

    def test_a_method_says_which_options_it_has(self) -> None:
        for case in spec("options.json")["allowed"]:
            with self.subTest(case["method"]), self.assertRaises(InvalidArgumentError) as caught:
                self.call(case, {"x": 1})
            self.assertEqual(sorted(str(caught.exception).split("allowed are ")[1].split(", ")), case["names"])

    def test_a_value_of_another_form_is_refused_with_what_is_allowed(self) -> None:
        for case in spec("options.json")["values"]:
            with self.subTest(case):
                with self.assertRaises(InvalidArgumentError) as caught:
                    self.call(case, case.get("options", {}))
                self.assertEqual(str(caught.exception)[: len(case["says"])], case["says"])

    def test_a_setting_of_a_client_is_refused_that_there_is_not(self) -> None:
        with self.assertRaisesRegex(InvalidArgumentError, "adress is not a known option; allowed are url, "):
            Paddock(adress="http://a")  # type: ignore[call-arg]
        with self.assertRaisesRegex(InvalidArgumentError, "max_retries must be an integer of at least 0"):
            Paddock(max_retries=-1)
