"""Applies the changes of a sandbox to a local directory, without losing local edits.

The sandbox's files are not trusted: nothing is written through a symlink, outside of the directory, or to what git
runs.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import stat
import tarfile
import tempfile
from typing import IO, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from ._versions import is_real_directory, leads_out, link_version, member_version, refused, version_of
from .errors import InvalidConfigurationError
from .messages import ChangeKind, FileChange, FileType

Signature = Tuple[int, int, int, int]


@dataclasses.dataclass(frozen=True)
class PullResult:
    """What a pull did.

    Attributes:
        applied: Paths that are now as in the sandbox.
        unchanged: Paths that were so already.
        conflicts: Paths whose local version is not the one that the sandbox started from. They were left as they are.
        skipped: Reasons by path of what is never written: parts of .git, symlinks that lead out of the directory.
    """

    applied: Tuple[str, ...] = ()
    unchanged: Tuple[str, ...] = ()
    conflicts: Tuple[str, ...] = ()
    skipped: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Local:
    """A path of the directory when the pull began. `version`: SHA-256 of its content; None: there is nothing."""

    signature: Optional[Signature]
    kind: Optional[FileType]
    version: Optional[str]


class Pull:
    """One pull. `look`, then the versions of the codebase are asked for, then `apply`."""

    def __init__(self, directory: str, git: bool) -> None:
        if not os.path.isdir(directory):
            raise InvalidConfigurationError(f"{directory} is not a directory")
        self._root = os.path.realpath(directory)
        self._git = git
        self._changes: Dict[str, FileChange] = {}
        self._local: Dict[str, Local] = {}
        self._skipped: Dict[str, str] = {}
        #: SHA-256 of the codebase's content by path; set by the caller for those that `look` returned.
        self.base: Dict[str, str] = {}

    def look(self, changes: Sequence[FileChange]) -> List[FileChange]:
        """Reads the local versions. Returns the changes for which the codebase's version must be known."""
        asked: List[FileChange] = []
        for change in changes:
            reason = refused(change.path, self._git, change.type == FileType.DIRECTORY)
            if reason:
                self._skipped[change.path] = reason
                continue
            local = self._read(change.path)
            self._changes[change.path] = change
            self._local[change.path] = local
            if local.version is not None and change.kind != ChangeKind.ADDED and not change.conflict:
                asked.append(change)
        return asked

    def apply(self, archive: "IO[bytes]", dry: bool = False) -> PullResult:
        """Applies the changes; `archive`: a tar of the added and modified files. `dry`: only says what it would do."""
        done = _Done(self._skipped)
        deleted = [change for change in self._changes.values() if change.kind == ChangeKind.DELETED]
        for change in sorted(deleted, key=lambda each: each.path, reverse=True):
            self._delete(change, done, dry)
        archive.seek(0)
        missing = {path for path, each in self._changes.items() if each.kind != ChangeKind.DELETED}
        with tarfile.open(fileobj=archive, mode="r:") as tar:
            for member in tar:
                path = member.name.strip("/")
                if path in missing:
                    missing.discard(path)
                    self._place(path, tar, member, done, dry)
        for path in sorted(missing):
            done.skipped[path] = "it is not a file, directory or symlink, or its name is not UTF-8"
        return done.result()

    def _delete(self, change: FileChange, done: "_Done", dry: bool) -> None:
        local = self._local[change.path]
        full = os.path.join(self._root, change.path)
        if local.kind is None:
            done.unchanged.append(change.path)
        elif change.type == FileType.DIRECTORY:
            # What is still in it is the user's own, or in conflict, and keeps it.
            if local.kind == FileType.DIRECTORY and self._safe(change.path) and self._is_empty(change.path, done):
                if not dry:
                    os.rmdir(full)
                done.remove(change.path)
        elif not self._is_base(change.path, done) or not self._unchanged_since(change.path):
            done.conflicts.append(change.path)
        else:
            if not dry:
                os.unlink(full)
            done.remove(change.path)

    def _place(
        self, path: str, tar: tarfile.TarFile, member: tarfile.TarInfo, done: "_Done", dry: bool
    ) -> None:
        # The sandbox may have replaced it since its changes were listed.
        reason = refused(path, self._git, member.isdir())
        if member.issym() and leads_out(path, member.linkname):
            reason = f"a symlink that may lead out of the directory, to {member.linkname!r}"
        if reason:
            done.skipped[path] = reason
            return
        local = self._local[path]
        if member.isdir():
            self._place_directory(path, local, done, dry)
            return
        if local.version is not None and local.version == member_version(tar, member):
            same = member.issym() or local.signature is None or local.signature[3] == member.mode & 0o777
            if same or not self._is_base(path, done):
                done.unchanged.append(path)
                return
        if not self._may_replace(path, done) or not self._make_parents(path, done, dry):
            done.conflicts.append(path)
            return
        if not dry:
            self._write(path, tar, member)
        done.place(path)

    def _place_directory(self, path: str, local: Local, done: "_Done", dry: bool) -> None:
        if local.kind == FileType.DIRECTORY:
            done.unchanged.append(path)
        elif not self._may_replace(path, done) or not self._make_parents(path, done, dry):
            done.conflicts.append(path)
        else:
            full = os.path.join(self._root, path)
            if not dry:
                if local.kind is not None:
                    os.unlink(full)
                os.makedirs(full, exist_ok=True)
            done.place(path, is_directory=True)

    def _write(self, path: str, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        full = os.path.join(self._root, path)
        if os.path.isdir(full) and not os.path.islink(full):
            os.rmdir(full)
        parent = os.path.dirname(full)
        if member.issym():
            temporary = os.path.join(parent, f".paddock-{os.getpid()}-{os.urandom(4).hex()}")
            os.symlink(member.linkname, temporary)
            os.replace(temporary, full)
            return
        content = tar.extractfile(member)
        assert content is not None
        descriptor, temporary = tempfile.mkstemp(prefix=".paddock-", dir=parent)
        try:
            with open(descriptor, "wb") as file:
                shutil.copyfileobj(content, file)
            os.chmod(temporary, member.mode & 0o777)
            os.replace(temporary, full)
        except BaseException:
            os.unlink(temporary)
            raise

    def _is_base(self, path: str, done: "_Done") -> bool:
        """Whether the local version is the codebase's."""
        local, change = self._local[path], self._changes[path]
        if local.kind == FileType.DIRECTORY:
            # An empty one has nothing to lose; `rmdir` refuses another.
            was = change.type if change.kind == ChangeKind.DELETED else change.base_type
            return (
                change.kind != ChangeKind.ADDED
                and was == FileType.DIRECTORY
                and self._safe(path)
                and self._is_empty(path, done)
            )
        return local.version is not None and local.version == self.base.get(path)

    def _is_empty(self, path: str, done: "_Done") -> bool:
        """Whether nothing is in a directory but what this pull removes."""
        names = os.listdir(os.path.join(self._root, path))
        return all(f"{path}/{name}" in done.removed for name in names)

    def _may_replace(self, path: str, done: "_Done") -> bool:
        """Whether no local edit is lost. That a file of the codebase is gone is an edit, too."""
        if self._local[path].kind is None:
            mine = self._changes[path].kind == ChangeKind.ADDED
        else:
            mine = self._is_base(path, done)
        return mine and self._unchanged_since(path)

    def _unchanged_since(self, path: str) -> bool:
        """Whether the local path is still what was looked at, and not reached through a symlink."""
        return self._read_signature(path) == self._local[path].signature

    def _safe(self, path: str) -> bool:
        """Whether all directories above the path exist and are no symlinks."""
        at = self._root
        for part in path.split("/")[:-1]:
            at = os.path.join(at, part)
            if not is_real_directory(at):
                return False
        return True

    def _make_parents(self, path: str, done: "_Done", dry: bool) -> bool:
        """Makes the missing directories above a path. False if something else is there."""
        parts = path.split("/")
        for count in range(1, len(parts)):
            parent = "/".join(parts[:count])
            at = os.path.join(self._root, parent)
            if dry and (parent in done.directories or parent in done.removed):
                continue
            if not os.path.lexists(at):
                if not dry:
                    os.mkdir(at)
            elif not is_real_directory(at):
                return False
        return True

    def _read_signature(self, path: str) -> Optional[Signature]:
        if not self._safe(path):
            return None
        try:
            found = os.lstat(os.path.join(self._root, path))
        except OSError:
            return None
        changed = 0 if stat.S_ISDIR(found.st_mode) else found.st_mtime_ns
        size = 0 if stat.S_ISDIR(found.st_mode) else found.st_size
        return found.st_ino, changed, size, stat.S_IMODE(found.st_mode) & 0o777

    def _read(self, path: str) -> Local:
        signature = self._read_signature(path)
        if signature is None:
            return Local(None, None, None)
        full = os.path.join(self._root, path)
        mode = os.lstat(full).st_mode
        if stat.S_ISLNK(mode):
            return Local(signature, FileType.SYMLINK, link_version(os.readlink(full)))
        if stat.S_ISDIR(mode):
            return Local(signature, FileType.DIRECTORY, None)
        if not stat.S_ISREG(mode):
            return Local(signature, FileType.OTHER, None)
        with open(full, "rb") as file:
            return Local(signature, FileType.FILE, version_of(file))


class _Done:
    def __init__(self, skipped: Mapping[str, str]) -> None:
        self.applied: List[str] = []
        self.unchanged: List[str] = []
        self.conflicts: List[str] = []
        self.skipped = dict(skipped)
        #: What is gone, and the directories that were made: in a dry run they are not, and yet count.
        self.removed: Set[str] = set()
        self.directories: Set[str] = set()

    def remove(self, path: str) -> None:
        self.applied.append(path)
        self.removed.add(path)

    def place(self, path: str, is_directory: bool = False) -> None:
        self.applied.append(path)
        if is_directory:
            self.directories.add(path)

    def result(self) -> PullResult:
        return PullResult(
            tuple(sorted(self.applied)),
            tuple(sorted(self.unchanged)),
            tuple(sorted(self.conflicts)),
            self.skipped,
        )
