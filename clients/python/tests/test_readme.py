"""The examples in README.md run."""

from __future__ import annotations

import contextlib
import io
import os
import re

from support import PROJECT, TestCase


class Readme(TestCase):
    def test_the_examples_run(self) -> None:
        directory = self.directory({f"my-project/{name}": content for name, content in PROJECT.items()})
        path = os.path.join(os.environ["PADDOCK_PYTHON"], "README.md")
        with open(path, encoding="utf-8") as file:
            first, second = re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(directory)
        self.assertLessEqual(len(first.strip().splitlines()), 10)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(first, path, "exec"), {})
            exec(compile(second, path, "exec"), {})
        text = output.getvalue()
        self.assertIn("0 hello\n", text)
        self.assertIn("+++ b/src/debug.txt\n", text)
        self.assertIn("('src/debug.txt',)", text)
        self.assertIn("8\n9\n", text)
