"""What of a directory is uploaded."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from typing import Dict, List

from paddock_sandbox import InvalidArgumentError
from paddock_sandbox._repository import require_own_repository
from paddock_sandbox._tree import Selection, archive_of, files_of
from support import TestCase

REPOSITORY = {
    "main.py": "1",
    "dist/out.js": "2",
    "src/deep/a.log": "3",
    "src/.gitignore": "*.log\n!keep.log\n",
    "src/keep.log": "4",
    ".gitignore": "/dist/\n",
}


class Tree(TestCase):
    def repository(self, files: Dict[str, str] = REPOSITORY) -> str:
        directory = self.directory(dict(files))
        subprocess.run(["git", "init", "-q", directory], check=True)
        self.put(directory, ".git/hooks/pre-commit", "hook")
        self.put(directory, ".git/modules/hooks/HEAD", "ref")
        self.put(directory, ".git/modules/hooks/hooks/x", "hook")
        self.put(directory, ".git/refs/heads/hooks/x", "ref")
        return directory

    def members(self, directory: str, selection: Selection = Selection()) -> List[tarfile.TarInfo]:
        with tarfile.open(fileobj=io.BytesIO(b"".join(archive_of(directory, selection)))) as tar:
            return tar.getmembers()

    def names(self, directory: str, selection: Selection = Selection()) -> List[str]:
        return [each.name for each in self.members(directory, selection) if not each.isdir()]

    def test_hooks_are_not_sent_by_default(self) -> None:
        directory = self.repository()
        names = self.names(directory)
        self.assertIn(".git/HEAD", names)
        self.assertIn(".git/modules/hooks/HEAD", names)
        self.assertIn(".git/refs/heads/hooks/x", names)
        self.assertEqual(
            [each for each in names if each.startswith((".git/hooks", ".git/modules/hooks/hooks"))], []
        )
        self.assertIn(".git/hooks/pre-commit", self.names(directory, Selection(git_hooks=True)))
        self.assertEqual(
            [each for each in self.names(directory, Selection((".git",))) if ".git/" in each], []
        )

    def test_what_a_killed_pull_left_is_not_sent(self) -> None:
        directory = self.directory({"d/.paddock-0123456789abcdef.tmp": "half", "d/.paddock-x.tmp": "mine"})
        self.assertEqual(self.names(directory), ["d/.paddock-x.tmp"])

    def test_what_git_ignores_is_left_out(self) -> None:
        directory = self.repository()
        self.put(directory, "nested/inner.txt", "5")
        self.put(directory, "nested/.gitignore", "*.key\n")
        self.put(directory, "nested/deep/a.key", "6")
        subprocess.run(["git", "init", "-q", os.path.join(directory, "nested")], check=True)
        names = self.names(directory, Selection((".git",), gitignore=True))
        self.assertEqual(
            names,
            [
                ".gitignore",
                "main.py",
                "nested/.gitignore",
                "nested/inner.txt",
                "src/.gitignore",
                "src/keep.log",
            ],
        )
        above = self.names(os.path.join(directory, "src"), Selection(gitignore=True))
        self.assertEqual(above, [".gitignore", "keep.log"])
        # In no repository nothing holds but the files of the directory itself.
        self.assertIn("main.py", self.names(self.directory(dict(REPOSITORY)), Selection(gitignore=True)))

    def test_patterns_are_lines_of_a_gitignore(self) -> None:
        directory = self.directory({name: "" for name in ["a.log", "b/c/d.txt", "build/x", "docs/i/1.md"]})
        self.assertEqual(self.names(directory, Selection(("b/**", "docs"))), ["a.log", "build/x"])
        # Lines of a file that say nothing.
        self.assertEqual(self.names(directory, Selection(("", "  ", "# *.log"))), self.names(directory))

    def test_an_archive_has_modes_times_links_and_any_name(self) -> None:
        directory = self.directory({"run.sh": "x" * 600_000, "ä" * 90: "long"})
        os.chmod(os.path.join(directory, "run.sh"), 0o4755)
        os.utime(os.path.join(directory, "run.sh"), (1, 1_000_000_000))
        os.symlink("../outside", os.path.join(directory, "link"))
        os.mkdir(os.path.join(directory, "empty"))
        os.mkfifo(os.path.join(directory, "fifo"))
        with open(os.path.join(os.fsencode(directory), b"\xff"), "w"):
            pass
        found = {each.name: each for each in self.members(directory)}
        self.assertEqual(set(found), {"run.sh", "ä" * 90, "link", "empty", os.fsdecode(b"\xff")})
        run = found["run.sh"]
        self.assertEqual((run.mode, run.mtime, run.size, run.uid), (0o755, 1_000_000_000, 600_000, 0))
        self.assertEqual(
            (found["link"].issym(), found["link"].linkname, found["empty"].isdir()),
            (True, "../outside", True),
        )

    def test_what_cannot_be_read_is_an_error_with_its_path(self) -> None:
        with self.assertRaises(InvalidArgumentError):
            list(files_of("/nowhere", Selection()))
        with self.assertRaises(InvalidArgumentError):
            list(files_of(self.directory(), Selection(("!a",))))

    def test_a_repository_that_is_elsewhere_is_an_error(self) -> None:
        directory = self.directory({"main/a": "1", "own/.git": "gitdir: inner/x\n", "none/.git": "nothing"})
        main, linked = os.path.join(directory, "main"), os.path.join(directory, "linked")
        git = ["git", "-C", main, "-c", "user.name=n", "-c", "user.email=e@x"]
        for command in ("init -q", "commit -q --allow-empty -m m", f"worktree add -q {linked}"):
            subprocess.run([*git, *command.split()], check=True, stderr=subprocess.DEVNULL)
        elsewhere = "repository is .*/main/.git/worktrees/linked, outside of the directory"
        with self.assertRaisesRegex(InvalidArgumentError, elsewhere):
            require_own_repository(linked, Selection())
        require_own_repository(linked, Selection((".git",)))
        for name in ("main", "own", "none"):
            require_own_repository(os.path.join(directory, name), Selection())
