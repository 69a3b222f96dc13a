"""What must stay out of a local directory, by the vectors that all clients share."""

from __future__ import annotations

import os
from typing import List

from paddock_sandbox._layout import Layout
from support import TestCase
from test_ignore import spec


class HomeTests(TestCase):
    def test_no_directory_becomes_a_repository(self) -> None:
        for case in spec("local-paths.json")["cases"]:
            if not case.get("layout"):
                continue
            with self.subTest(case["name"]):
                directory = self.directory({})
                for path in case.get("local", ()):
                    if path.endswith("/"):
                        os.makedirs(os.path.join(directory, path))
                    else:
                        self.put(directory, path, "")
                layout = Layout(directory)
                refused: List[str] = [each for each in case["incoming"] if layout.refusal(each.rstrip("/"))]
                self.assertEqual(refused, case["never"])
