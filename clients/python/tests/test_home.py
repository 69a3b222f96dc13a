"""What comes home from a sandbox, by the vectors that all clients share."""

from __future__ import annotations

import os
from typing import List

from paddock_sandbox._home import Home
from paddock_sandbox._refusals import link_refused
from support import TestCase
from test_ignore import spec


class HomeTests(TestCase):
    def test_what_comes_is_decided_by_one_table(self) -> None:
        for case in spec("home-cases.json")["cases"]:
            with self.subTest(case["name"]):
                directory = self.directory({})
                for path in case.get("local", ()):
                    if path.endswith("/"):
                        os.makedirs(os.path.join(directory, path))
                    else:
                        self.put(directory, path, "")
                home = Home(directory, case.get("git", False), case.get("allow", ()))
                never: List[str] = []
                ask: List[str] = []
                for path in case["incoming"]:
                    reason = home.refusal(path.rstrip("/"), path.endswith("/"))
                    if reason:
                        (ask if "allow=" in reason else never).append(path)
                self.assertEqual((never, ask), (case["never"], case["ask"]))

    def test_links_lead_neither_out_nor_to_a_repository(self) -> None:
        wrong = [".hg/store", ".git", "../.jj/repo", "..\\x", "C:x", "c:\\x", "/etc", "a\\..\\..\\x"]
        for target in wrong:
            self.assertTrue(link_refused("d/l", target), target)
        self.assertTrue(link_refused(".hg/x", "y"))
