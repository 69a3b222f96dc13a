"""Applies the changes of a sandbox to a local directory, without losing local edits.

The sandbox's files are not trusted: nothing is written through a symlink, outside of the directory, or to what git
runs.
"""

from __future__ import annotations

import os
import stat
import tarfile
import unicodedata
from typing import IO, Dict, List, Sequence, Set

from ._hunks import Part, Taken
from ._layout import Layout, is_removed, named_in, refusal_for
from ._place import Local, Place
from ._pulled import Done, PullResult
from ._room import Room
from ._versions import link_version, member_version
from .errors import InvalidArgumentError
from .messages import ChangeKind, FileChange, FileType


class Pull:
    """One pull. `look`, then `apply`."""

    def __init__(
        self, directory: str, git: bool, allow: Sequence[str] = (), named: Sequence[str] = (), max_bytes: int = 2**30
    ) -> None:
        if not os.path.isdir(directory):
            raise InvalidArgumentError(f"{directory} is not a directory")
        self._root = os.path.realpath(directory)
        self._layout = Layout(self._root)
        self._git = git
        self._allow = tuple(allow)
        self._named = tuple(named)
        self._changes: Dict[str, FileChange] = {}
        self._local: Dict[str, Local] = {}
        self._skipped: Dict[str, str] = {}
        self._max_bytes = max_bytes
        #: Files that it has no room for; known after `look`.
        self.too_large: List[FileChange] = []
        #: Paths that are written, by the path that was renamed, and by their form without upper and lower case.
        self._renamed: Dict[str, str] = {}
        self._folded: Dict[str, str] = {}
        #: What takes the place of a directory, whether it may come or not; of these, those that conflict.
        self._replacing: Set[str] = set()
        self._kept: Set[str] = set()
        #: What is taken of files of which hunks are chosen, by path; set by the caller.
        self.parts: Dict[str, Taken] = {}

    def look(self, changes: Sequence[FileChange]) -> None:
        """Takes what may come, and reads the local versions."""
        allow = [*self._allow, *named_in(self._named, changes)]
        room = Room(self._max_bytes)
        for change in changes:
            path, deleted = change.path, is_removed(change)
            if change.renamed_from:
                self._renamed[change.renamed_from] = path
            if not deleted and change.type != FileType.DIRECTORY and change.base_type == FileType.DIRECTORY:
                self._replacing.add(path)
            reason = "" if _is_path(path) else "not a path below the directory"
            reason = reason or refusal_for(change, self._git, allow) or self._layout.refusal(path, deleted)
            if not reason and not deleted and change.type == FileType.FILE:
                reason = room.take(change.size)
                if reason:
                    self.too_large.append(change)
            if reason:
                self._skipped[path] = reason
                continue
            if not deleted:
                self._folded[_folded(path)] = path
            self._changes[path] = change
            self._local[path] = self._look(path)

    def apply(self, archive: "IO[bytes]", dry: bool = False) -> PullResult:
        """Applies the changes; `archive`: a tar of the added and modified files. `dry`: only says what it would do."""
        if self._replacing and not dry:
            # Of a directory that has files of its own, nothing is removed for its replacement.
            self._kept = self._replacing.intersection(self.apply(archive, dry=True).conflicts)
        done = Done(self._skipped)
        # Files may have grown since they were listed.
        room = Room(self._max_bytes)
        archive.seek(0)
        missing = {path for path, each in self._changes.items() if each.kind != ChangeKind.DELETED}
        with tarfile.open(fileobj=archive, mode="r:") as tar:
            for member in tar:
                path = member.name.strip("/")
                if path in missing:
                    missing.discard(path)
                    reason = room.take(member.size)
                    if reason:
                        done.skipped[path] = reason
                        continue
                    self._place(path, self._taken(path, tar, member), done, dry)
        for path in sorted(missing):
            done.skipped[path] = "it is not a file, directory or symlink, or its name is not UTF-8"
        # After the contents: those of a renamed file may be only at its old path.
        self._delete_below("", done, dry)
        return done.result()

    def _taken(self, path: str, tar: tarfile.TarFile, member: tarfile.TarInfo) -> Part:
        """What comes of a member."""
        taken = self.parts.get(path) if member.isfile() else None
        return Part(member, tar.extractfile) if taken is None else Part.of(member.name, taken)

    def _delete_below(self, above: str, done: Done, dry: bool) -> None:
        """From the bottom up. `above`: the directory that is replaced, with a slash, or all that is left.

        Files below a directory whose replacement did not come stay.
        """
        deleted = [path for path, each in self._changes.items() if each.kind == ChangeKind.DELETED]
        for path in sorted(deleted, reverse=True):
            if path.startswith(above) and path not in done.decided:
                done.decided.add(path)
                if not above and self._stays_below(path):
                    done.conflicts.append(path)
                else:
                    self._delete(self._changes[path], done, dry)

    def _stays_below(self, path: str) -> bool:
        parts = path.split("/")
        return any("/".join(parts[:count]) in self._replacing for count in range(1, len(parts)))

    def _delete(self, change: FileChange, done: Done, dry: bool) -> None:
        path = change.path
        local = self._local[path]
        if local.kind is None:
            done.unchanged.append(path)
        elif change.type == FileType.DIRECTORY:
            # What is still in it is the user's own, or in conflict, and keeps it.
            if local.kind == FileType.DIRECTORY and self._is_empty(path, done):
                self._remove(path, done, dry)
        elif self._is_needed(path, done) or not self._is_base(path, done) or not self._unchanged_since(path):
            done.conflicts.append(path)
        else:
            self._remove(path, done, dry)

    def _remove(self, path: str, done: Done, dry: bool) -> None:
        with Place.at(self._root, path) as place:
            if place is None:
                done.conflicts.append(path)
                return
            if not dry:
                place.remove()
            done.remove(path)

    def _is_needed(self, path: str, done: Done) -> bool:
        """Whether the contents are only here: their new path was not written; or has the same file, in another case."""
        renamed = self._renamed.get(path)
        if renamed is not None and renamed not in done.placed:
            return True
        other = self._folded.get(_folded(path))
        if other is None:
            return False
        with Place.at(self._root, path) as old, Place.at(self._root, other) as new:
            return old is not None and new is not None and old.identity() == new.identity()

    def _place(self, path: str, part: Part, done: Done, dry: bool) -> None:
        member = part.member
        version = member_version(part)
        # The server judged what it listed: the sandbox may have replaced it since.
        if not self._is_listed(path, member, version):
            done.skipped[path] = "the sandbox changed it meanwhile: pull again"
            return
        if path in self._kept:
            done.conflicts.append(path)
            return
        local = self._local[path]
        if member.isdir():
            same = local.kind == FileType.DIRECTORY
        else:
            # Of files only the execute bit counts: a umask makes other bits differ.
            kept = member.issym() or local.executable == (member.mode & 0o100 != 0)
            same = local.version is not None and local.version == version
            same = same and (kept or not self._is_base(path, done))
            if not same and local.kind == FileType.DIRECTORY:
                self._delete_below(f"{path}/", done, dry)
        if same:
            done.same(path)
        elif not self._may_replace(path, done) or not self._fits(path, done, dry):
            done.conflicts.append(path)
        elif dry or self._write(path, part):
            done.place(path, is_directory=member.isdir())
        else:
            done.conflicts.append(path)

    def _is_listed(self, path: str, member: tarfile.TarInfo, version: str) -> bool:
        """Whether a member of the archive is what the list of changes said."""
        change = self._changes[path]
        assert change.local is not None
        if member.isdir():
            return change.type == FileType.DIRECTORY
        if member.issym():
            return change.type == FileType.SYMLINK and member.linkname == change.local.link_target
        is_file = change.type == FileType.FILE and member.isfile()
        return is_file and (path in self.parts or version == change.local.sha256)

    def _base_version(self, change: FileChange) -> str:
        """The codebase's version of a changed path; empty: it has none, or it is not known."""
        kind = change.type if is_removed(change) else change.base_type
        local = change.local
        if change.kind == ChangeKind.ADDED or local is None:
            return ""
        if kind == FileType.SYMLINK:
            return link_version(local.base_link_target) if local.base_link_target else ""
        return local.base_sha256 if kind == FileType.FILE else ""

    def _write(self, path: str, part: Part) -> bool:
        """False: a directory above is something else by now."""
        member = part.member
        with Place.at(self._root, path, make=True) as place:
            if place is None:
                return False
            if member.isdir():
                place.make_directory()
            elif member.issym():
                place.put_link(member.linkname)
            else:
                content = part.open()
                assert content is not None
                place.put_file(content, member.mode & 0o100 != 0)
        return True

    def _is_base(self, path: str, done: Done) -> bool:
        """Whether the local version is the codebase's."""
        local, change = self._local[path], self._changes[path]
        if local.kind == FileType.DIRECTORY:
            # An empty one has nothing to lose; `rmdir` refuses another.
            was = change.type if change.kind == ChangeKind.DELETED else change.base_type
            return change.kind != ChangeKind.ADDED and was == FileType.DIRECTORY and self._is_empty(path, done)
        if local.version is None or local.version != self._base_version(change):
            return False
        return local.kind != FileType.FILE or local.executable == (change.base_mode & 0o100 != 0)

    def _is_empty(self, path: str, done: Done) -> bool:
        """Whether nothing is in a directory but what this pull removes."""
        with Place.at(self._root, path) as place:
            return place is not None and all(f"{path}/{name}" in done.removed for name in place.names())

    def _may_replace(self, path: str, done: Done) -> bool:
        """Whether no local edit is lost. That a file of the codebase is gone is an edit, too."""
        if self._local[path].kind is None:
            mine = self._changes[path].kind == ChangeKind.ADDED
        else:
            mine = self._is_base(path, done)
        return mine and self._unchanged_since(path)

    def _unchanged_since(self, path: str) -> bool:
        """Whether the local path is still what was looked at, and not reached through a symlink."""
        with Place.at(self._root, path) as place:
            return (None if place is None else place.signature()) == self._local[path].signature

    def _fits(self, path: str, done: Done, dry: bool) -> bool:
        """Whether all that is above the path is a directory, or missing."""
        parts = path.split("/")
        for count in range(1, len(parts)):
            parent = "/".join(parts[:count])
            if dry and (parent in done.directories or parent in done.removed):
                continue
            with Place.at(self._root, parent) as place:
                found = None if place is None else place.stat()
            if found is not None and not stat.S_ISDIR(found.st_mode):
                return False
        return True

    def _look(self, path: str) -> Local:
        with Place.at(self._root, path) as place:
            return Local() if place is None else place.look()


def _is_path(path: str) -> bool:
    """Where a backslash separates, a colon names a drive or a stream of another file."""
    unsafe = "\0\\:" if os.sep == "\\" else "\0"
    return not any(part in ("", ".", "..") or any(each in unsafe for each in part) for part in path.split("/"))


def _folded(path: str) -> str:
    """Where upper and lower case are one."""
    return unicodedata.normalize("NFC", path).casefold()
