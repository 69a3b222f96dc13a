"""What .gitignore files leave out, as git reads them (gitignore(5)).

They are read here and not asked from git: a tree that came from elsewhere has a configuration that can name programs
(core.fsmonitor), which git would run. The tree is hostile, and so are its patterns: their bytes and the time that they
take are limited.
"""

from __future__ import annotations

import os
import stat
import time
from typing import List, NamedTuple, Optional, Tuple

from ._glob import Glob
from .errors import InvalidArgumentError

#: Bytes of one file, and of those that hold for a directory together.
_MOST_BYTES = 256 * 1024
_MOST_IN_ALL = 1024 * 1024
#: Seconds of comparisons.
_MOST_SECONDS = 60.0


class Pattern(NamedTuple):
    glob: Glob
    negated: bool
    directory_only: bool


class IgnoreFile:
    """The patterns of one file."""

    def __init__(self, text: bytes) -> None:
        lines = text[3:] if text.startswith(b"\xef\xbb\xbf") else text
        found = [_pattern(each[:-1] if each.endswith(b"\r") else each) for each in lines.split(b"\n")]
        # The last one first.
        self._patterns = [each for each in reversed(found) if each is not None]

    def decides(self, path: bytes, is_directory: bool) -> Optional[bool]:
        """`path`: relative to the directory of the file. None: no pattern decides."""
        if not self._patterns:
            return None
        names = path.split(b"/")
        for glob, negated, directory_only in self._patterns:
            if (is_directory or not directory_only) and glob.matches(names):
                return not negated
        return None


def _pattern(line: bytes) -> Optional[Pattern]:
    text = b"" if line.startswith(b"#") else _trimmed(line)
    negated = text.startswith(b"!")
    text = text[negated:]
    directory_only = text.endswith(b"/")
    if directory_only:
        text = text[:-1]
    # A slash before the end binds the pattern to the directory of its file.
    bound = b"/" in text
    text = text[text.startswith(b"/") :]
    glob = Glob.parse(text, not bound) if text else None
    return None if glob is None else Pattern(glob, negated, directory_only)


def _trimmed(line: bytes) -> bytes:
    """Without spaces at its end: they count only after a backslash."""
    text = line.rstrip(b" ")
    slashes = len(text) - len(text.rstrip(b"\\"))
    return line[: len(text) + slashes % 2]


class _Level(NamedTuple):
    """`base`: path of its directory below the root. `above`: instead, path of the root from it, with a slash."""

    base: bytes
    above: bytes
    file: IgnoreFile


class _Time:
    def __init__(self) -> None:
        self.spent = 0.0


class Ignores:
    """The .gitignore files that hold for a directory."""

    def __init__(self, levels: Tuple[_Level, ...] = (), size: int = 0, spent: Optional[_Time] = None) -> None:
        #: The last one decides first.
        self._levels = levels
        self._size = size
        self._time = spent or _Time()

    @classmethod
    def of(cls, directory: str) -> Ignores:
        """Those above a directory in its repository, and `.git/info/exclude`."""
        root = os.path.abspath(directory)
        files: List[Tuple[str, bytes]] = []
        at = root
        while not os.path.lexists(os.path.join(at, ".git")):
            above = os.path.dirname(at)
            # In no repository.
            if above == at:
                return cls()
            at = above
            files.insert(0, (os.path.join(at, ".gitignore"), _between(at, root)))
        ignores = cls()._with(os.path.join(at, ".git", "info", "exclude"), b"", _between(at, root))
        for path, between in files:
            ignores = ignores._with(path, b"", between)
        return ignores

    def enter(self, root: str, path: str) -> Ignores:
        """With that of a directory."""
        return self._with(os.path.join(root, path, ".gitignore"), os.fsencode(path), b"")

    def has(self, path: str, is_directory: bool) -> bool:
        begun = time.monotonic()
        name = os.fsencode(path)
        try:
            for base, above, file in reversed(self._levels):
                decided = file.decides(name[len(base) + 1 :] if base else above + name, is_directory)
                if decided is not None:
                    return decided
            return False
        finally:
            self._time.spent += time.monotonic() - begun
            if self._time.spent > _MOST_SECONDS:
                raise InvalidArgumentError(f"the patterns of .gitignore files take more than {_MOST_SECONDS:.0f} s")

    def _with(self, path: str, base: bytes, above: bytes) -> Ignores:
        text = _patterns_of(path)
        if not text:
            return self
        size = self._size + len(text)
        if size > _MOST_IN_ALL:
            raise InvalidArgumentError(f"{path} and the files above it have more than 1 MiB of patterns")
        return Ignores((*self._levels, _Level(base, above, IgnoreFile(text))), size, self._time)


def _between(above: str, root: str) -> bytes:
    path = os.path.relpath(root, above)
    return b"" if path == "." else os.fsencode(path.replace(os.sep, "/")) + b"/"


def _patterns_of(path: str) -> bytes:
    """Empty: there is no such file. git does not follow a symlink either."""
    flags = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC"))
    try:
        descriptor = os.open(path, os.O_RDONLY | flags)
    except OSError:
        return b""
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return b""
        if found.st_size > _MOST_BYTES:
            raise InvalidArgumentError(f"{path} is larger than 256 KiB")
        return file.read(_MOST_BYTES)
