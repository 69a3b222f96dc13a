"""What the tests share. Those of a server get its address from PADDOCK_URL."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import unittest
from typing import Callable, Dict, Union

from paddock_sandbox import Sandbox, Paddock

PROJECT: Dict[str, Union[str, bytes]] = {
    "main.py": "print('hello')\n",
    "src/app.txt": "one\ntwo\n",
    "data/blob.bin": bytes(range(256)),
    ".env": "SECRET=1\n",
}


class TestCase(unittest.TestCase):
    """A case with directories of its own."""

    def directory(self, files: "Dict[str, Union[str, bytes]]" = PROJECT) -> str:
        """A new local directory with files; removed at the end of the test."""
        path = tempfile.mkdtemp(prefix="paddock-python-")
        self.addCleanup(shutil.rmtree, path, True)
        for name, content in files.items():
            self.put(path, name, content)
        return path

    @staticmethod
    def put(directory: str, name: str, content: Union[str, bytes]) -> None:
        full = os.path.join(directory, name)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)

    @staticmethod
    def get(directory: str, name: str) -> str:
        with open(os.path.join(directory, name), encoding="utf-8") as file:
            return file.read()

    def eventually(self, condition: Callable[[], bool], seconds: float = 20.0) -> None:
        """Waits until the condition is true."""
        limit = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), limit, "not within the time limit")
            time.sleep(0.02)


class ServerCase(TestCase):
    """A case with one sandbox, on a codebase with PROJECT, for all its tests."""

    client: Paddock
    sandbox: Sandbox

    @classmethod
    def setUpClass(cls) -> None:
        if "PADDOCK_URL" not in os.environ:
            raise RuntimeError("PADDOCK_URL must name a server")
        path = tempfile.mkdtemp(prefix="paddock-python-")
        try:
            for name, content in PROJECT.items():
                cls.put(path, name, content)
            cls.sandbox = Sandbox.create(path, preset="development", rules={"none": ["private"]})
        finally:
            shutil.rmtree(path)
        cls.client = Paddock()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.sandbox.destroy()
        cls.client.close()

    def setUp(self) -> None:
        self.sandbox.discard(include_scratch=True)
