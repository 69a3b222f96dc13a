"""Changes of a sandbox into a local directory, on a real server."""

from __future__ import annotations

import asyncio
import errno
import os
from typing import Any, List
from unittest import mock

from paddock_sandbox import AsyncSandbox, ConflictError, InvalidArgumentError, Sandbox
from support import PROJECT, ServerCase


class Pulls(ServerCase):
    def test_changes_are_applied_to_the_local_directory(self) -> None:
        directory = self.directory()
        self.sandbox.run(
            "echo more >> src/app.txt; rm -r data; mkdir -p a/b; echo n > a/b/n; chmod 755 main.py; ln -s n a/b/l"
        )
        pulled = self.sandbox.pull(directory)
        self.assertEqual((pulled.conflicts, dict(pulled.skipped)), ((), {}))
        self.assertEqual(self.get(directory, "src/app.txt"), "one\ntwo\nmore\n")
        self.assertEqual(self.get(directory, "a/b/l"), "n\n")
        self.assertEqual(os.readlink(os.path.join(directory, "a/b/l")), "n")
        self.assertTrue(os.access(os.path.join(directory, "main.py"), os.X_OK))
        self.assertEqual(os.stat(os.path.join(directory, "main.py")).st_mode & 0o777, 0o755)
        self.assertEqual(sorted(os.listdir(directory)), [".env", "a", "main.py", "src"])
        again = self.sandbox.pull(directory)
        self.assertEqual((again.applied, again.conflicts), ((), ()))

    def test_nothing_is_written_where_a_sandbox_must_not_write(self) -> None:
        directory, outside = self.directory(), self.directory({"keep.txt": "kept"})
        os.symlink(outside, os.path.join(directory, "link"))
        self.sandbox.run(
            "mkdir link; echo evil > link/keep.txt;"
            "ln -s ../../etc out; ln -s /etc/passwd absolute; ln -s .git/hooks inside; mkfifo fifo"
        )
        self.sandbox.files.as_owner().write(".git/hooks/pre-commit", "evil")
        pulled = self.sandbox.pull(directory, git=True)
        self.assertEqual(self.get(outside, "keep.txt"), "kept")
        self.assertIn("link/keep.txt", pulled.conflicts)
        self.assertFalse(os.path.exists(os.path.join(directory, ".git/hooks/pre-commit")))
        refused = {".git/hooks/pre-commit", "out", "absolute", "inside"}
        self.assertLessEqual(refused, set(pulled.skipped))
        self.assertNotIn("out", os.listdir(directory))
        self.assertIn(".git/hooks", self.sandbox.pull(directory).skipped)

    def test_a_sandbox_is_kept_while_it_has_what_could_not_be_pulled(self) -> None:
        directory = self.directory({"old": "base"})
        with self.assertWarnsRegex(RuntimeWarning, "is kept: 2 of its changes"):
            with Sandbox.create(directory, preset="full-access") as sandbox:
                sandbox.run("mv old new; echo more >> new")
                self.put(directory, "new", "mine")
                self.assertEqual(sandbox.pull(directory).conflicts, ("new", "old"))
        kept = Sandbox.connect(sandbox.id)
        self.assertEqual(kept.files.as_owner().read_text("new"), "basemore\n")
        self.assertEqual((self.get(directory, "old"), self.get(directory, "new")), ("base", "mine"))
        kept.destroy()
        self.client.codebases.delete(kept.codebase_id)

    def test_a_tree_of_a_thousand_directories_goes_there_and_is_replaced_here(self) -> None:
        directory = self.directory({})
        for depth in range(1001):
            os.mkdir(os.path.join(directory, "deep", *["a"] * depth))
        with Sandbox.create(directory, preset="full-access") as sandbox:
            sandbox.run("rm -rf deep; echo x > deep", check=True)
            pulled = sandbox.pull(directory)
        self.assertEqual((pulled.conflicts, dict(pulled.failed)), ((), {}))
        self.assertTrue(os.path.isfile(os.path.join(directory, "deep")))

    def test_an_answer_of_only_that_is_neither_true_nor_false_is_refused(self) -> None:
        async def late(path: str) -> bool:
            return False

        self.sandbox.run("echo 1 > a", check=True)
        wrong: List[Any] = [late, lambda path: None, lambda path: 1]
        for only in wrong:
            with self.assertRaisesRegex(InvalidArgumentError, "^only must return true or false$"):
                self.sandbox.pull(self.directory({}), only=only)

    def test_an_error_of_the_disk_names_the_path(self) -> None:
        directory = self.directory()
        self.sandbox.run("echo 1 > a", check=True)
        with mock.patch("paddock_sandbox._place.version_of", side_effect=OSError(errno.ENOSPC, "full")):
            failed = self.sandbox.pull(directory, ["a"]).failed
        self.assertEqual(str(failed["a"]), f"[Errno {errno.ENOSPC}] full: 'a'")

    def test_nothing_is_stored_outside_of_the_directory(self) -> None:
        directory = self.directory({})
        with Sandbox.create(directory, preset="full-access") as sandbox:
            sandbox.run("echo 1 > a", check=True)
            with mock.patch("tempfile.tempdir", "/nonexistent"):
                self.assertEqual(sandbox.pull(directory).applied, ("a",))

    def test_a_cancelled_pull_stops_and_leaves_no_part_of_a_file(self) -> None:
        directory = self.directory({})

        async def main() -> None:
            async with AsyncSandbox.create(directory, preset="full-access") as sandbox:
                await sandbox.run("for i in $(seq 500); do head -c 200000 /dev/zero > $i; done", check=True)
                pull = asyncio.ensure_future(sandbox.pull(directory))
                while not os.listdir(directory):
                    await asyncio.sleep(0)
                pull.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await pull
                found = os.listdir(directory)
                self.assertLess(len(found), 500)
                sizes = {os.path.getsize(os.path.join(directory, each)) for each in found}
                self.assertLessEqual(sizes, {200000})
                self.assertEqual(len((await sandbox.pull(directory)).applied), 500 - len(found))

        asyncio.run(main())

    def test_a_sandbox_is_kept_for_what_no_later_call_brought(self) -> None:
        def raising(sandbox: Sandbox, directory: str) -> None:
            with self.assertRaises(ConflictError):
                sandbox.pull(directory, on_conflict="raise")

        def narrower(sandbox: Sandbox, directory: str) -> None:
            sandbox.pull(directory)
            sandbox.pull(directory, ["n"])
            sandbox.discard(["n"])

        for calls in (raising, narrower):
            directory = self.directory({"a": "base"})
            with self.subTest(calls.__name__), self.assertWarnsRegex(RuntimeWarning, "is kept"):
                with Sandbox.create(directory, preset="full-access") as sandbox:
                    sandbox.run("echo theirs > a; echo new > n", check=True)
                    self.put(directory, "a", "mine")
                    calls(sandbox, directory)
            kept = Sandbox.connect(sandbox.id)
            kept.destroy()
            self.client.codebases.delete(kept.codebase_id)
