"""The directories below a local one, none of which is reached through a symlink.

The threat: another user who may write to a directory on the way exchanges it for a symlink after it was looked at.
Where the system can, directories are held open, so what is done in one is done in the one that was checked.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ._owner import Owner, give_at, owner_of
from ._temporary import is_temporary

_HELD = os.open in os.supports_dir_fd and os.rename in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")
#: The links in it tell where what is open is now.
_OPEN = "/proc/self/fd"
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
#: Of the way to the last directory so many are held: a path has up to 2,047.
_MOST = 64
_DAY = 24 * 60 * 60


class Directory(NamedTuple):
    """A directory that is open, or given by its path."""

    path: str
    fd: Optional[int] = None

    @classmethod
    def root(cls, path: str) -> "Directory":
        return cls(path, os.open(path, _DIRECTORY)) if _HELD else cls(path)

    def at(self, name: str) -> str:
        """For functions of os, with `within`."""
        return name if self.fd is not None else os.path.join(self.path, name)

    @property
    def within(self) -> Dict[str, Any]:
        return {} if self.fd is None else {"dir_fd": self.fd}

    def stat(self) -> os.stat_result:
        return os.stat(self.path if self.fd is None else self.fd)

    def now(self) -> Optional[str]:
        """Where it is now, without symlinks: others may have moved it. None: nothing tells, or its path is too long."""
        try:
            return None if self.fd is None else os.readlink(f"{_OPEN}/{self.fd}")
        except OSError as error:
            if error.errno not in (errno.ENAMETOOLONG, errno.ENOENT, errno.EINVAL):
                raise
            return None

    def enter(self, name: str) -> "Optional[Directory]":
        """None: it is missing. Raises if something else is there."""
        path = os.path.join(self.path, name)
        try:
            if self.fd is not None:
                return Directory(path, os.open(name, _DIRECTORY | _NOFOLLOW, dir_fd=self.fd))
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        except FileNotFoundError:
            return None
        return Directory(path)

    def make(self, name: str, owner: Optional[Owner] = None) -> "Directory":
        """Unless there is something."""
        try:
            os.mkdir(self.at(name), **self.within)
            give_at(self.at(name), owner or owner_of(None, self.stat()), self.fd)
        except FileExistsError:
            pass
        found = self.enter(name)
        if found is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        return found

    def names(self) -> List[str]:
        return os.listdir(self.path if self.fd is None else self.fd)

    def copy(self) -> "Directory":
        return self if self.fd is None else Directory(self.path, os.dup(self.fd))

    def close(self) -> None:
        if self.fd is not None:
            os.close(self.fd)

    def sweep(self) -> None:
        """Removes the temporary files that no client writes to any more: for a day."""
        for name in filter(is_temporary, self.names()):
            found = os.stat(self.at(name), follow_symlinks=False, **self.within)
            if stat.S_ISREG(found.st_mode) and found.st_mtime < time.time() - _DAY:
                os.unlink(self.at(name), **self.within)


class Tree:
    """The way to the last directory is kept, so that a path beside it costs no more than its own part."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._names: List[str] = []
        #: The last of those above and of the names, and nothing else.
        self._held: List[Directory] = []

    def open(self, names: Sequence[str], make: bool = False) -> Optional[Directory]:
        """The directory; whoever asks closes it. None: it is missing. With `make` it is made.

        Raises NotADirectoryError or ELOOP if something else is on the way.
        """
        same = len(os.path.commonprefix([list(names), self._names])) if _HELD else 0
        self._leave(same)
        if not self._held:
            self._held.append(Directory.root(self._root))
        for name in names[len(self._names) :]:
            above = self._held[-1]
            found = above.enter(name) or (above.make(name) if make else None)
            if found is None:
                return None
            self._held.append(found)
            self._names.append(name)
            if len(self._held) > _MOST:
                self._held.pop(0).close()
        return self._held[-1].copy()

    def leads_to(self, names: Sequence[str], directory: Optional[Directory]) -> bool:
        """Whether the names still lead to the directory, or to none if there was none."""
        here = None if directory is None else directory.now()
        if here is not None:
            return here == os.path.join(os.path.realpath(self._root), *names)
        # What is held may have been moved.
        self.close()
        found = self.open(names)
        if found is None or directory is None:
            is_same = found is directory
        else:
            is_same = identity_of(found.stat()) == identity_of(directory.stat())
        if found is not None:
            found.close()
        return is_same

    def _leave(self, count: int) -> None:
        """Back to as many names."""
        while len(self._names) > count:
            self._names.pop()
            if self._held:
                self._held.pop().close()
        if not self._held:
            self._names.clear()

    def close(self) -> None:
        self._leave(0)
        if self._held:
            self._held.pop().close()


def identity_of(found: os.stat_result) -> Tuple[int, int]:
    """The same for two names of one file."""
    return found.st_dev, found.st_ino
