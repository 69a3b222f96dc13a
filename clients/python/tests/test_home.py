"""What must stay out of a local directory, by the vectors that all clients share."""

from __future__ import annotations

import os
from typing import List

from paddock_sandbox._layout import Layout, refusal_for
from paddock_sandbox.messages import ChangeKind, FileChange, FileType, LocalChange, LocalRefusal
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

    def test_what_the_server_refuses_comes_only_if_it_is_asked_for(self) -> None:
        def left(refusal: LocalRefusal, git: bool = False, allow: List[str] = []) -> bool:
            local = LocalChange(refusal=refusal)
            change = FileChange(path="a/.envrc/x", kind=ChangeKind.ADDED, type=FileType.FILE, local=local)
            return bool(refusal_for(change, git, allow))

        never, git = LocalRefusal(reason="r"), LocalRefusal(reason="r", git=True)
        sight = LocalRefusal(reason="r", allow="a/.envrc")
        both = LocalRefusal(reason="r", allow="a/.envrc", git=True)
        self.assertTrue(left(never, True, ["a"]))
        self.assertEqual([left(git), left(git, True)], [True, False])
        self.assertEqual([left(sight), left(sight, False, ["a"]), left(sight, True, ["b"])], [True, False, True])
        self.assertEqual([left(both, True), left(both, False, ["a"]), left(both, True, ["a"])], [True, True, False])
        unknown = FileChange(path="x", kind=ChangeKind.ADDED, type=FileType.FILE)
        self.assertTrue(refusal_for(unknown, True, [""]))
