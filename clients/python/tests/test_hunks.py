"""Parts of files: by the vectors that all clients share, and on a real server."""

from __future__ import annotations

import os

from paddock_sandbox import InvalidArgumentError, FailedPreconditionError, chosen_hunks
from paddock_sandbox._hunks import with_hunks
from paddock_sandbox.messages import Hunk
from support import ServerCase, TestCase
from test_ignore import spec


class TextTests(TestCase):
    def test_a_text_with_some_hunks(self) -> None:
        for case in spec("hunks.json")["cases"]:
            with self.subTest(case["name"]):
                hunks = [
                    Hunk(old_start=start, old_lines=lines, removed=removed, added=added)
                    for start, lines, removed, added in case["hunks"]
                ]
                base = case["base"].encode()
                if case["text"] is None:
                    with self.assertRaises(FailedPreconditionError):
                        with_hunks(base, hunks, case["indexes"])
                else:
                    self.assertEqual(with_hunks(base, hunks, case["indexes"]).decode(), case["text"])


class HunkTests(ServerCase):
    def test_a_pull_and_a_commit_take_chosen_hunks_only(self) -> None:
        directory = self.directory()
        self.sandbox.run("sed -i s/one/1/ src/app.txt; echo three >> src/app.txt; chmod 755 src/app.txt; touch new")
        change = next(each for each in self.sandbox.changes(diff=True) if each.path == "src/app.txt")
        assert change.diff is not None
        self.assertEqual([each.added for each in change.diff.hunks], ["1\n", "three\n"])
        pulled = self.sandbox.pull(directory, hunks=[chosen_hunks(change, [1])])
        self.assertEqual((pulled.applied, pulled.conflicts), (("src/app.txt",), ()))
        self.assertEqual(self.get(directory, "src/app.txt"), "one\ntwo\nthree\n")
        self.assertFalse(os.access(os.path.join(directory, "src/app.txt"), os.X_OK))
        self.assertNotIn("new", os.listdir(directory))
        self.assertEqual(self.sandbox.commit(hunks=[chosen_hunks(change, [0])]).count, 1)
        left = next(each for each in self.sandbox.changes(diff=True) if each.path == "src/app.txt")
        assert left.diff is not None
        self.assertEqual([each.added for each in left.diff.hunks], ["three\n"])

    def test_hunks_of_a_renamed_file_come_with_its_rename(self) -> None:
        directory = self.directory()
        self.put(directory, "old", "one\ntwo\n")
        self.sandbox.files.as_owner().write("old", "one\ntwo\n")
        self.sandbox.commit()
        self.sandbox.run("mv old moved; printf '1\\ntwo\\nthree\\n' > moved; chmod 755 moved")
        change = next(each for each in self.sandbox.changes(diff=True) if each.path == "moved")
        assert change.diff is not None
        self.assertEqual([each.added for each in change.diff.hunks], ["1\n", "three\n"])
        pulled = self.sandbox.pull(directory, hunks=[chosen_hunks(change, [1])])
        self.assertEqual((pulled.applied, pulled.conflicts), (("moved", "old"), ()))
        self.assertEqual(self.get(directory, "moved"), "one\ntwo\nthree\n")
        self.assertFalse(os.access(os.path.join(directory, "moved"), os.X_OK))
        self.assertFalse(os.path.exists(os.path.join(directory, "old")))
        self.assertEqual(self.sandbox.commit(hunks=[chosen_hunks(change, [0])]).count, 2)

    def test_hunks_of_another_version_are_refused_and_nothing_is_written(self) -> None:
        directory = self.directory()
        self.sandbox.run("echo three >> src/app.txt; echo new > new")
        (new, change) = self.sandbox.changes(diff=True)
        with self.assertRaises(InvalidArgumentError):
            chosen_hunks(new, [0])
        self.sandbox.run("echo four >> src/app.txt")
        with self.assertRaises(FailedPreconditionError):
            self.sandbox.pull(directory, ["new"], hunks=[chosen_hunks(change, [0])])
        with self.assertRaises(FailedPreconditionError):
            self.sandbox.commit(hunks=[chosen_hunks(change, [0])])
        self.assertEqual(self.get(directory, "src/app.txt"), "one\ntwo\n")
        self.assertNotIn("new", os.listdir(directory))
