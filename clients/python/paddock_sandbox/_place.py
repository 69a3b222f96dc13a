"""A path of a local directory that no symlink leads out of.

The threat: another user who may write to a directory on the way exchanges it for a symlink after it was looked at.
Where the system can, the directory is held open, so what is done in it is done in the one that was checked.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from typing import IO, Any, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

from .messages import FileType
from ._owner import Owner, give, give_at, owner_of
from ._temporary import temporary_name
from ._versions import link_version, version_of

Signature = Tuple[int, int, int, int]

_HELD = os.open in os.supports_dir_fd and os.rename in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | getattr(os, "O_BINARY", 0)


class Local(NamedTuple):
    """What is at a path. `version`: SHA-256 of its content. Without a signature there is nothing."""

    signature: Optional[Signature] = None
    kind: Optional[FileType] = None
    version: Optional[str] = None
    executable: bool = False


class Place:
    """A name in a directory, which is open, or given by its path."""

    def __init__(self, directory: Union[int, str], name: str) -> None:
        self._held = directory if isinstance(directory, int) else None
        self._above = "" if isinstance(directory, int) else directory
        self._at: Dict[str, Any] = {} if self._held is None else {"dir_fd": self._held}
        self._path = self._named(name)

    def _named(self, name: str) -> str:
        return name if self._held is not None else os.path.join(self._above, name)

    @classmethod
    @contextlib.contextmanager
    def at(cls, root: str, path: str, make: bool = False) -> Iterator[Optional["Place"]]:
        """None: a directory above is missing, or none. `make`: the missing ones are made."""
        *parents, name = path.split("/")
        try:
            directory = _opened(root, parents, make) if _HELD else _looked(root, parents, make)
        except OSError:
            yield None
            return
        try:
            yield cls(directory, name)
        finally:
            if isinstance(directory, int):
                os.close(directory)

    def stat(self) -> Optional[os.stat_result]:
        try:
            return os.stat(self._path, follow_symlinks=False, **self._at)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def signature(self) -> Optional[Signature]:
        """Changes with what is here. Of a directory only which one it is."""
        found = self.stat()
        if found is None:
            return None
        if stat.S_ISDIR(found.st_mode):
            return found.st_ino, 0, 0, 0
        return found.st_ino, found.st_mtime_ns, found.st_size, stat.S_IMODE(found.st_mode)

    def look(self) -> Local:
        signature, found = self.signature(), self.stat()
        if found is None:
            return Local()
        if stat.S_ISLNK(found.st_mode):
            return Local(signature, FileType.SYMLINK, link_version(os.readlink(self._path, **self._at)))
        if stat.S_ISDIR(found.st_mode):
            return Local(signature, FileType.DIRECTORY)
        if not stat.S_ISREG(found.st_mode):
            return Local(signature, FileType.OTHER)
        with open(os.open(self._path, _FILE, **self._at), "rb") as file:
            return Local(signature, FileType.FILE, version_of(file), found.st_mode & 0o100 != 0)

    def identity(self) -> Optional[Tuple[int, int]]:
        """The same for two names of one file, where upper and lower case are one."""
        found = self.stat()
        return None if found is None else (found.st_dev, found.st_ino)

    def names(self) -> List[str]:
        """What is in the directory here."""
        if self._held is None:
            return os.listdir(self._path)
        descriptor = os.open(self._path, _DIRECTORY | _NOFOLLOW, **self._at)
        try:
            return os.listdir(descriptor)
        finally:
            os.close(descriptor)

    def remove(self) -> None:
        """A file, a symlink or an empty directory."""
        found = self.stat()
        if found is not None and stat.S_ISDIR(found.st_mode):
            os.rmdir(self._path, **self._at)
        else:
            os.unlink(self._path, **self._at)

    def make_directory(self) -> None:
        """In the place of a file, a symlink or nothing."""
        owner = self._owner()
        if self.stat() is not None:
            os.unlink(self._path, **self._at)
        os.mkdir(self._path, **self._at)
        give_at(self._path, owner, self._held)

    def put_link(self, target: str) -> None:
        temporary = self._temporary()
        os.symlink(target, temporary, **self._at)
        give_at(temporary, self._owner(), self._held)
        self._put(temporary)

    def put_file(self, content: "IO[bytes]", executable: bool) -> None:
        """With the permission bits of the file that it replaces; other execute bits only if the new one differs."""
        found = self.stat()
        temporary = self._temporary()
        with open(os.open(temporary, _NEW, 0o666, **self._at), "wb") as file:
            try:
                shutil.copyfileobj(content, file)
                is_file = found is not None and stat.S_ISREG(found.st_mode)
                old = (found if is_file and found else os.fstat(file.fileno())).st_mode & 0o777
                give(file.fileno(), self._owner())
                if hasattr(os, "fchmod"):
                    os.fchmod(file.fileno(), _mode_of(old, executable))
            except BaseException:
                os.unlink(temporary, **self._at)
                raise
        self._put(temporary)

    def _owner(self) -> Optional[Owner]:
        return owner_of(self.stat(), os.stat(self._above if self._held is None else self._held))

    def _temporary(self) -> str:
        return self._named(temporary_name())

    def _put(self, temporary: str) -> None:
        held = {} if self._held is None else {"src_dir_fd": self._held, "dst_dir_fd": self._held}
        try:
            found = self.stat()
            if found is not None and stat.S_ISDIR(found.st_mode):
                os.rmdir(self._path, **self._at)
            os.replace(temporary, self._path, **held)
        except BaseException:
            os.unlink(temporary, **self._at)
            raise


def _mode_of(old: int, executable: bool) -> int:
    if (old & 0o100 != 0) == executable:
        return old
    bits = old & 0o666
    return bits | (bits & 0o444) >> 2 if executable else bits


def _opened(root: str, parents: List[str], make: bool) -> int:
    at = os.open(root, _DIRECTORY)
    for part in parents:
        above = at
        try:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=above)
                    give_at(part, owner_of(None, os.stat(above)), above)
            at = os.open(part, _DIRECTORY | _NOFOLLOW, dir_fd=above)
        finally:
            os.close(above)
    return at


def _looked(root: str, parents: List[str], make: bool) -> str:
    """Where a directory cannot be held open."""
    at = root
    for part in parents:
        above, at = at, os.path.join(at, part)
        if make and not os.path.lexists(at):
            os.mkdir(at)
            give_at(at, owner_of(None, os.stat(above)))
        if not stat.S_ISDIR(os.lstat(at).st_mode):
            raise NotADirectoryError(at)
    return at
