"""Patterns of .gitignore files, as git reads them."""

from __future__ import annotations

import json
import os
import time
from typing import Any, List

from paddock_sandbox import InvalidArgumentError
from paddock_sandbox._ignore import IgnoreFile
from paddock_sandbox._tree import Selection, files_of
from support import TestCase


def spec(name: str) -> Any:
    """Vectors that the tests of all clients share."""
    with open(os.path.join(os.environ["PADDOCK_PYTHON"], "../spec", name), encoding="utf-8") as file:
        return json.load(file)


def is_ignored(file: IgnoreFile, path: str) -> bool:
    """As a walk from the top does: what is in a directory that is left out is not looked at."""
    names = path.rstrip("/").split("/")
    return any(
        file.decides("/".join(names[:count]).encode(), count < len(names) or path.endswith("/"))
        for count in range(1, len(names) + 1)
    )


class Ignore(TestCase):
    def test_patterns_mean_what_they_mean_for_git(self) -> None:
        for case in spec("ignore.json")["cases"]:
            with self.subTest(case["patterns"]):
                file = IgnoreFile("\n".join(case["patterns"]).encode())
                paths: List[str] = case["ignored"] + case["kept"]
                self.assertEqual([path for path in paths if is_ignored(file, path)], case["ignored"])

    def test_the_time_does_not_grow_faster_than_path_times_pattern(self) -> None:
        names = ["a" * 255, "a/" * 2000 + "b"]
        patterns = ["*a" * 100 + "b", "**/a/" * 100 + "c", "*" + "[ab]*" * 200 + "c", " " * 2**17 + "x"]
        begun = time.monotonic()
        for path in names:
            self.assertIsNone(IgnoreFile("\n".join(patterns).encode()).decides(path.encode(), False))
        self.assertLess(time.monotonic() - begun, 10)

    def test_a_hostile_tree_runs_no_program_and_ends(self) -> None:
        patterns = "*a" * 100 + "b\nleft\n"
        directory = self.directory({"a" * 200: "", "sub/kept": "", "sub/left": "", ".gitignore": patterns})
        program = os.path.join(directory, "program")
        self.put(directory, "program", f"#!/bin/sh\ntouch {directory}/ran\n")
        os.chmod(program, 0o755)
        self.put(directory, ".git/HEAD", "ref: refs/heads/main\n")
        self.put(directory, ".git/config", f"[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {program}\n")
        os.makedirs(os.path.join(directory, ".git/objects"))
        os.makedirs(os.path.join(directory, ".git/refs"))
        os.symlink("/dev/zero", os.path.join(directory, "sub/.gitignore"))
        found = list(files_of(directory, Selection((".git",), gitignore=True)))
        self.assertEqual(found, [".gitignore", "a" * 200, "program", "sub", "sub/.gitignore", "sub/kept"])
        os.unlink(os.path.join(directory, "sub/.gitignore"))
        os.mkfifo(os.path.join(directory, "sub/.gitignore"))
        self.assertIn("sub/kept", list(files_of(directory, Selection((".git",), gitignore=True))))
        self.put(directory, ".gitignore", "x" * (256 * 1024 + 1))
        with self.assertRaises(InvalidArgumentError):
            list(files_of(directory, Selection(gitignore=True)))
