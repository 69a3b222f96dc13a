"""A path of a local directory, whose own directory is held."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from typing import IO, Callable, Iterator, List, NamedTuple, Optional, Tuple

from ._directories import Directory, Tree, identity_of
from ._owner import Owner, give, give_at, owner_of
from ._temporary import temporary_name
from .messages import FileType

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | getattr(os, "O_BINARY", 0)


class Found(NamedTuple):
    """What is at a path, on either side; None: nothing. `version`: SHA-256 of a file, or the target of a symlink.

    Of files only the execute bit counts, as for git: a umask makes other bits differ.
    """

    kind: FileType
    version: str = ""
    executable: bool = False


class Look(NamedTuple):
    """What was at a path, and a mark that changes with it."""

    found: Optional[Found] = None
    mark: Tuple[int, ...] = ()


class Place:
    """Made by `at`."""

    def __init__(self, tree: Tree, path: str) -> None:
        *self._names, self._name = path.split("/")
        self._tree = tree
        #: None: it is missing.
        self._directory = tree.open(self._names)

    @classmethod
    @contextlib.contextmanager
    def at(cls, tree: Tree, path: str) -> "Iterator[Optional[Place]]":
        """None: something on the way is no directory, but a symlink or a file."""
        try:
            place = cls(tree, path)
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            yield None
            return
        try:
            yield place
        finally:
            if place._directory is not None:
                place._directory.close()

    def _made(self) -> Directory:
        """Makes the directories above, if they are missing."""
        if self._directory is None:
            self._directory = self._tree.open(self._names, make=True)
            assert self._directory is not None
        return self._directory

    def _stat(self) -> Optional[os.stat_result]:
        above = self._directory
        if above is None:
            return None
        try:
            return os.stat(above.at(self._name), follow_symlinks=False, **above.within)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def look(self) -> Look:
        found = self._stat()
        if found is None:
            return Look()
        above, mark = self._made(), _mark_of(found)
        if stat.S_ISLNK(found.st_mode):
            return Look(Found(FileType.SYMLINK, os.readlink(above.at(self._name), **above.within)), mark)
        if not stat.S_ISREG(found.st_mode):
            return Look(Found(FileType.DIRECTORY if stat.S_ISDIR(found.st_mode) else FileType.OTHER), mark)
        with open(os.open(above.at(self._name), _FILE, **above.within), "rb") as file:
            return Look(Found(FileType.FILE, version_of(file), is_executable(found.st_mode)), mark)

    def is_still(self, look: Look) -> bool:
        """Whether nothing changed here since: neither this path nor the way to it."""
        if not self._tree.leads_to(self._names, self._directory):
            return False
        found = self._stat()
        return (() if found is None else _mark_of(found)) == look.mark

    def identity(self) -> Optional[Tuple[int, int]]:
        """The same for two names of one file."""
        found = self._stat()
        return None if found is None else identity_of(found)

    def is_directory(self) -> bool:
        found = self._stat()
        return found is not None and stat.S_ISDIR(found.st_mode)

    def names(self) -> List[str]:
        """What is in the directory here."""
        found = self._made().enter(self._name)
        if found is None:
            return []
        try:
            return found.names()
        finally:
            found.close()

    def write(self, content: "IO[bytes]", executable: bool, may_replace: Callable[[str], bool]) -> bool:
        """Puts a file here if `may_replace` agrees once its contents have arrived. Returns whether."""
        above, temporary, is_put = self._made(), temporary_name(), False
        descriptor = os.open(above.at(temporary), _NEW, 0o666, **above.within)
        try:
            with open(descriptor, "wb") as file:
                mode = self._mode(os.fstat(descriptor).st_mode, executable)
                _set_mode(descriptor, 0o600)
                version = version_of(content, file.write)
                file.flush()
                give(descriptor, self._owner())
                _set_mode(descriptor, mode)
            is_put = may_replace(version) and self._put(temporary)
        finally:
            if not is_put:
                os.unlink(above.at(temporary), **above.within)
        return is_put

    def link(self, target: str) -> None:
        above, temporary = self._made(), temporary_name()
        os.symlink(target, above.at(temporary), **above.within)
        try:
            give_at(above.at(temporary), self._owner(), above.fd)
            self._put(temporary)
        except BaseException:
            os.unlink(above.at(temporary), **above.within)
            raise

    def _put(self, temporary: str) -> bool:
        """At once, if there is no directory, which must be empty."""
        above = self._made()
        if self.is_directory():
            os.rmdir(above.at(self._name), **above.within)
        held = {} if above.fd is None else {"src_dir_fd": above.fd, "dst_dir_fd": above.fd}
        os.replace(above.at(temporary), above.at(self._name), **held)
        return True

    def make_directory(self) -> None:
        """In the place of a file, a symlink or nothing."""
        above, owner = self._made(), self._owner()
        if self._stat() is not None:
            os.unlink(above.at(self._name), **above.within)
        above.make(self._name, owner).close()

    def remove(self) -> None:
        """A file, a symlink or an empty directory."""
        above = self._made()
        (os.rmdir if self.is_directory() else os.unlink)(above.at(self._name), **above.within)

    def _owner(self) -> Optional[Owner]:
        return owner_of(self._stat(), self._made().stat())

    def _mode(self, new: int, executable: bool) -> int:
        """Permission bits of the file that is replaced; other execute bits only if the new one differs in them."""
        found = self._stat()
        old = (found.st_mode if found is not None and stat.S_ISREG(found.st_mode) else new) & 0o777
        if is_executable(old) == executable:
            return old
        bits = old & 0o666
        return bits | (bits & 0o444) >> 2 if executable else bits


def version_of(file: "IO[bytes]", each: Callable[[bytes], object] = len) -> str:
    """SHA-256 of a file's content."""
    digest = hashlib.sha256()
    for piece in iter(lambda: file.read(256 * 1024), b""):
        digest.update(piece)
        each(piece)
    return digest.hexdigest()


def is_executable(mode: int) -> bool:
    return mode & 0o100 != 0


def _set_mode(descriptor: int, mode: int) -> None:
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, mode)


def _mark_of(found: os.stat_result) -> Tuple[int, ...]:
    """The times of a directory change with its entries."""
    if stat.S_ISDIR(found.st_mode):
        return identity_of(found)
    return (*identity_of(found), found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
