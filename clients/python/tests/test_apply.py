"""What a pull does to a local directory, without a server."""

from __future__ import annotations

import dataclasses
import io
import os
import tarfile
from typing import Dict, List, Optional
from unittest import mock

from paddock_sandbox import ChangeKind, FileChange, FileType, PullResult
from paddock_sandbox._pull import Pull
from paddock_sandbox._versions import version_of
from paddock_sandbox.messages import LocalChange, LocalRefusal
from support import TestCase

#: The content of a member; None: a directory; "-> x": a symlink.
Members = Dict[str, Optional[str]]


def change(path: str, kind: ChangeKind = ChangeKind.ADDED, now: str = "file", base: str = "file") -> FileChange:
    return FileChange(path, kind, FileType(now), base_type=FileType(base))


def local(each: FileChange, content: Optional[str], refusal: Optional[LocalRefusal] = None) -> FileChange:
    """As a server lists it for a local directory; the content of all files in the codebase is "base"."""
    is_link = content is not None and content.startswith("-> ")
    found = LocalChange(
        base_sha256=version_of(io.BytesIO(b"base")),
        sha256="" if content is None or is_link else version_of(io.BytesIO(content.encode())),
        link_target=content[3:] if content is not None and is_link else "",
        refusal=refusal,
    )
    return dataclasses.replace(each, local=found)


def archive(members: Members) -> io.BytesIO:
    found = io.BytesIO()
    with tarfile.open(fileobj=found, mode="w") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            raw = (content or "").encode()
            if content is None:
                member.type, member.mode = tarfile.DIRTYPE, 0o755
            elif content.startswith("-> "):
                member.type, member.linkname = tarfile.SYMTYPE, content[3:]
            else:
                member.size = len(raw)
            tar.addfile(member, io.BytesIO(raw) if member.isfile() else None)
    return found


class Apply(TestCase):
    def pull(
        self, directory: str, changes: List[FileChange], members: Members, git: bool = False, dry: bool = False
    ) -> PullResult:
        """Pulls; the content of all files in the codebase is "base"."""
        pull = Pull(directory, git)
        pull.look([each if each.local else local(each, members.get(each.path)) for each in changes])
        return pull.apply(archive(members), dry)

    def test_what_was_removed_locally_stays_removed(self) -> None:
        directory = self.directory({"renamed": "base"})
        changes = [change("gone", ChangeKind.MODIFIED), change("sub/gone", ChangeKind.MODIFIED), change("new")]
        found = self.pull(directory, changes, {"gone": "x", "sub/gone": "x", "new": "x"})
        self.assertEqual((found.conflicts, found.applied), (("gone", "sub/gone"), ("new",)))
        self.assertEqual(sorted(os.listdir(directory)), ["new", "renamed"])

    def test_what_root_writes_belongs_to_the_owner_of_what_it_replaces_or_of_the_directory(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("only root can give files away")
        directory = self.directory({"kept": "base"})
        os.chown(directory, 4242, 4242)
        os.chown(os.path.join(directory, "kept"), 4242, 4343)
        os.chmod(os.path.join(directory, "kept"), 0o2640)
        changes = [change("kept", ChangeKind.MODIFIED), change("new/file"), change("link", now="symlink")]
        found = self.pull(directory, changes, {"kept": "x", "new/file": "y", "link": "-> kept"})
        self.assertEqual(found.applied, ("kept", "link", "new/file"))

        def owner(path: str) -> str:
            found = os.lstat(os.path.join(directory, path))
            return f"{path} {found.st_uid}:{found.st_gid}"

        expected = ["kept 4242:4343", "new 4242:4242", "new/file 4242:4242", "link 4242:4242"]
        self.assertEqual([owner(each) for each in ("kept", "new", "new/file", "link")], expected)
        self.assertEqual(os.stat(os.path.join(directory, "kept")).st_mode & 0o7777, 0o640)

    def test_the_execute_bits_change_only_with_those_of_the_sandbox(self) -> None:
        directory = self.directory({"tool": "base"})
        os.chmod(os.path.join(directory, "tool"), 0o744)
        tar = io.BytesIO()
        with tarfile.open(fileobj=tar, mode="w") as made:
            member = tarfile.TarInfo("tool")
            member.size, member.mode = 1, 0o755
            made.addfile(member, io.BytesIO(b"x"))
        pull = Pull(directory, False)
        pull.look([local(dataclasses.replace(change("tool", ChangeKind.MODIFIED), base_mode=0o755), "x")])
        self.assertEqual(pull.apply(tar).applied, ("tool",))
        self.assertEqual(os.stat(os.path.join(directory, "tool")).st_mode & 0o777, 0o744)

    def test_a_dry_run_finds_the_conflicts_of_the_real_one(self) -> None:
        files = {"tree/deep/a": "base", "tree/b": "base", "file": "base", "old/x": "base", "mine": "my file"}
        changes = [
            change("tree", ChangeKind.MODIFIED, "file", "directory"),
            change("tree/b", ChangeKind.DELETED),
            change("tree/deep", ChangeKind.DELETED, "directory"),
            change("tree/deep/a", ChangeKind.DELETED),
            change("file", ChangeKind.MODIFIED, "directory", "file"),
            change("file/inner"),
            change("new", now="directory"),
            change("new/inner"),
        ]
        members: Members = {"file": None, "file/inner": "1", "new": None, "new/inner": "2", "tree": "3"}
        directory = self.directory(dict(files))
        for dry in (True, False):
            found = self.pull(directory, changes, members, dry=dry)
            self.assertEqual((found.conflicts, dict(found.skipped), len(found.applied)), ((), {}, 8))
        self.assertEqual([self.get(directory, each) for each in ("file/inner", "new/inner", "tree")], ["1", "2", "3"])

        os.symlink("old", os.path.join(directory, "link"))
        changes = [change("mine/inner"), change("link/inner"), change("old/y")]
        members = {"mine/inner": "1", "link/inner": "2", "old/y": "3"}
        for dry in (True, False):
            self.assertEqual(self.pull(directory, changes, members, dry=dry).conflicts, ("link/inner", "mine/inner"))
        self.assertEqual(sorted(os.listdir(os.path.join(directory, "old"))), ["x", "y"])

    def test_a_directory_in_place_of_a_file_is_a_conflict(self) -> None:
        directory = self.directory({})
        for name in ("removed", "changed"):
            os.mkdir(os.path.join(directory, name))
        changes = [change("removed", ChangeKind.DELETED), change("changed", ChangeKind.MODIFIED)]
        found = self.pull(directory, changes, {"changed": "x"})
        self.assertEqual(found.conflicts, ("changed", "removed"))
        self.assertEqual(sorted(os.listdir(directory)), ["changed", "removed"])

    def test_what_comes_is_what_was_listed(self) -> None:
        # The server judged the list: the sandbox has replaced these in between.
        directory = self.directory({"d": "base"})
        changes = [change("sub/.git", now="directory"), local(change("link", now="symlink"), "-> ok")]
        changes += [local(change("file"), "listed"), change("d", ChangeKind.DELETED)]
        members: Members = {"sub/.git": "gitdir: /x", "link": "-> /etc", "file": "other"}
        found = self.pull(directory, changes, members, git=True)
        self.assertEqual((sorted(found.skipped), os.listdir(directory)), (["file", "link", "sub/.git"], []))
        unknown = dataclasses.replace(change("new"), local=LocalChange())
        self.assertEqual(list(self.pull(directory, [unknown], {"new": "x"}).skipped), ["new"])

    def test_a_renamed_file_stays_at_its_old_path_if_its_new_one_is_taken(self) -> None:
        directory = self.directory({"old": "base", "new": "mine"})
        changes = [change("old", ChangeKind.DELETED), renamed("new", "old")]
        for dry in (True, False):
            found = self.pull(directory, changes, {"new": "base"}, dry=dry)
            self.assertEqual((found.applied, found.conflicts), ((), ("new", "old")))
        self.assertEqual((self.get(directory, "old"), self.get(directory, "new")), ("base", "mine"))
        directory = self.directory({"old": "base"})
        self.assertEqual(self.pull(directory, changes, {"new": "base"}).applied, ("new", "old"))
        # Also of one that tools run on sight, which is left out.
        directory = self.directory({"old": "base"})
        refused = local(renamed(".envrc", "old"), "base", LocalRefusal(reason="direnv runs it", allow=".envrc"))
        left = self.pull(directory, [change("old", ChangeKind.DELETED), refused], {".envrc": "base"})
        self.assertEqual((left.conflicts, list(left.skipped)), (("old",), [".envrc"]))

    def test_of_modes_only_the_execute_bit_is_taken(self) -> None:
        directory = self.directory({"private": "base", "tool": "base"})
        os.chmod(os.path.join(directory, "private"), 0o600)
        self.addCleanup(os.umask, os.umask(0o027))
        found = archive({"private": "x", "tool": "base", "new": "1", "run": "1"})
        found = with_modes(found, {"private": 0o666, "tool": 0o777, "new": 0o666, "run": 0o777})
        pull = Pull(directory, False)
        modified = {"private": "x", "tool": "base"}
        pull.look([local(change(path, ChangeKind.MODIFIED), text) for path, text in modified.items()])
        pull.look([local(change("new"), "1"), local(change("run"), "1")])
        self.assertEqual(pull.apply(found).conflicts, ())
        modes = {name: os.stat(os.path.join(directory, name)).st_mode & 0o7777 for name in os.listdir(directory)}
        self.assertEqual(modes, {"private": 0o600, "tool": 0o755, "new": 0o640, "run": 0o750})

    def test_a_backslash_is_a_character_like_any_other_where_it_separates_nothing(self) -> None:
        directory = self.directory({})
        found = self.pull(directory, [change("a\\..\\x")], {"a\\..\\x": "1"})
        written = ["a\\..\\x"] if os.sep == "/" else []
        self.assertEqual((list(found.applied), os.listdir(directory)), (written, written))

    def test_a_drive_or_a_stream_of_another_file_is_no_name_where_backslashes_separate(self) -> None:
        for name in ("C:x", "d/C:x", "base:stream", "a\\x"):
            directory = self.directory({})
            with mock.patch("os.sep", "\\"):
                found = self.pull(directory, [change(name)], {name: "1"})
            skipped = {name: "not a path below the directory"}
            self.assertEqual((dict(found.skipped), os.listdir(directory)), (skipped, []))

    def test_a_directory_that_becomes_a_link_leads_nowhere(self) -> None:
        directory, outside = self.directory({"d/a": "base"}), self.directory({"a": "base"})
        pull = Pull(directory, False)
        pull.look([local(change("d/a", ChangeKind.MODIFIED), "x")])
        os.rename(os.path.join(directory, "d"), os.path.join(directory, "moved"))
        os.symlink(outside, os.path.join(directory, "d"))
        self.assertEqual(pull.apply(archive({"d/a": "x"})).conflicts, ("d/a",))
        self.assertEqual((self.get(outside, "a"), self.get(directory, "moved/a")), ("base", "base"))


def renamed(path: str, source: str) -> FileChange:
    return FileChange(path, ChangeKind.ADDED, FileType.FILE, renamed_from=source)


def with_modes(given: io.BytesIO, modes: Dict[str, int]) -> io.BytesIO:
    given.seek(0)
    found = io.BytesIO()
    with tarfile.open(fileobj=given) as source, tarfile.open(fileobj=found, mode="w") as target:
        for member in source:
            member.mode = modes[member.name]
            target.addfile(member, source.extractfile(member))
    return found
