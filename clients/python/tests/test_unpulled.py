"""For how long a pull that failed keeps its sandbox."""

from __future__ import annotations

from typing import Any, Dict

from paddock_sandbox._unpulled import Unpulled
from support import TestCase


def _one(path: str) -> bool:
    return True


def _other(path: str) -> bool:
    return False


def _after(failed: Dict[str, Any], succeeded: Dict[str, Any]) -> str:
    unpulled = Unpulled()
    unpulled.failed(failed.get("paths"), failed, OSError("cut"))
    unpulled.pulled(succeeded.get("paths"), succeeded, [], [])
    return unpulled.told


class FailedPulls(TestCase):
    def test_one_is_remembered_after_a_pull_that_may_have_left_its_changes_out(self) -> None:
        for failed, succeeded in (
            ({"only": _one}, {"only": _other}),
            ({"paths": ["a"]}, {"paths": ["b"]}),
            ({"paths": ["a"]}, {"paths": ["a"], "only": _one}),
            ({"include_scratch": True}, {}),
            ({"git": True}, {}),
        ):
            with self.subTest(failed=failed, succeeded=succeeded):
                self.assertEqual(_after(failed, succeeded), "a pull of its changes failed (cut)")

    def test_one_is_forgotten_after_a_pull_of_all_of_its_changes(self) -> None:
        for failed, succeeded in (
            ({"only": _one, "exclude": ["a"]}, {"only": _one, "exclude": ["a"]}),
            ({"only": _one, "paths": ["a"]}, {}),
            ({"only": _one, "paths": ["a"]}, {"paths": ["a"]}),
        ):
            with self.subTest(failed=failed, succeeded=succeeded):
                self.assertEqual(_after(failed, succeeded), "")
