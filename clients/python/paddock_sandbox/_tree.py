"""What of a local directory is uploaded, and as which archive."""

from __future__ import annotations

import dataclasses
import os
import stat
import tarfile
from typing import Iterator, Optional, Tuple

from ._http import PIECE
from ._ignore import IgnoreFile, Ignores
from ._temporary import is_temporary
from .errors import InvalidArgumentError

_BLOCK = 512


@dataclasses.dataclass(frozen=True)
class Selection:
    """Which files of a directory are taken; see `UploadOptions`."""

    exclude: Tuple[str, ...] = ()
    gitignore: bool = False
    git_hooks: bool = False


def files_of(directory: str, selection: Selection) -> Iterator[str]:
    """The paths of files, symlinks and directories, relative to the directory, each after those above it.

    Sockets, FIFOs and devices are left out. Symlinks are not followed.
    `InvalidArgumentError` if something cannot be read.
    """
    if not os.path.isdir(directory):
        raise InvalidArgumentError(f"{directory} is not a directory")
    ignores = Ignores.of(directory) if selection.gitignore else None
    yield from _walk(directory, selection, _given(selection), ignores)


def takes(path: str, selection: Selection) -> bool:
    """Whether a file is taken that is no part of a directory .git."""
    return not _given(selection).decides(os.fsencode(path), False)


def _given(selection: Selection) -> IgnoreFile:
    lines = [each.strip() for each in selection.exclude]
    wrong = next((each for each in lines if each.startswith("!")), None)
    if wrong is not None:
        raise InvalidArgumentError(f"exclude: {wrong!r}: a pattern cannot begin with '!'")
    return IgnoreFile(os.fsencode("\n".join(lines)))


def _walk(root: str, selection: Selection, given: IgnoreFile, ignores: Optional[Ignores]) -> Iterator[str]:
    waiting = [_entries(root, "", selection, given, ignores)]
    while waiting:
        found = next(waiting[-1], None)
        if found is None:
            waiting.pop()
            continue
        path, is_directory, within = found
        yield path
        if is_directory:
            waiting.append(_entries(root, path, selection, given, within))


def _entries(
    root: str, parent: str, selection: Selection, given: IgnoreFile, above: Optional[Ignores]
) -> "Iterator[tuple[str, bool, Optional[Ignores]]]":
    """What is taken of one directory: its path, whether it is a directory, and what is ignored beside it."""
    try:
        entries = sorted(os.scandir(os.path.join(root, parent)), key=lambda each: each.name)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unreadable(parent, error) from error
    names = {each.name for each in entries}
    ignores = None if above is None else above.enter(root, parent)
    for entry in entries:
        path = f"{parent}/{entry.name}" if parent else entry.name
        is_directory = entry.is_dir(follow_symlinks=False)
        if is_temporary(entry.name):
            continue
        if _is_git(path):
            # Nothing in it is ignored by a .gitignore file.
            if not _takes_git(path, "HEAD" in names, selection):
                continue
        elif ignores is not None and ignores.has(path, is_directory):
            continue
        if given.decides(os.fsencode(path), is_directory):
            continue
        if is_directory or entry.is_symlink() or entry.is_file(follow_symlinks=False):
            yield path, is_directory, ignores


def archive_of(directory: str, selection: Selection) -> Iterator[bytes]:
    """A tar archive of the directory, made as it is read. Each file has the size that it had when it was opened."""
    pending = bytearray()
    for path in files_of(directory, selection):
        for piece in _member(directory, path):
            pending += piece
            if len(pending) >= PIECE:
                yield bytes(pending)
                pending.clear()
    yield bytes(pending) + bytes(2 * _BLOCK)


def _member(directory: str, path: str) -> Iterator[bytes]:
    full = os.path.join(directory, path)
    try:
        found = os.lstat(full)
        if stat.S_ISDIR(found.st_mode):
            yield _header(path, found, tarfile.DIRTYPE)
        elif stat.S_ISLNK(found.st_mode):
            yield _header(path, found, tarfile.SYMTYPE, os.readlink(full))
        elif stat.S_ISREG(found.st_mode):
            yield from _file(full, path)
    except FileNotFoundError:
        # It was removed since the directory was listed.
        return
    except OSError as error:
        raise _unreadable(path, error) from error


def _file(full: str, path: str) -> Iterator[bytes]:
    # Windows has O_BINARY instead of the other two.
    flags = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
    descriptor = os.open(full, os.O_RDONLY | flags)
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return
        yield _header(path, found, tarfile.REGTYPE)
        left = found.st_size
        while left > 0:
            piece = file.read(min(left, PIECE))
            if not piece:
                raise _error(path, "became shorter while it was read")
            left -= len(piece)
            yield piece
        yield bytes(-found.st_size % _BLOCK)


def _header(path: str, found: os.stat_result, kind: bytes, target: str = "") -> bytes:
    member = tarfile.TarInfo(path)
    member.type = kind
    member.mode = stat.S_IMODE(found.st_mode) & 0o777
    member.mtime = int(found.st_mtime)
    member.size = found.st_size if kind == tarfile.REGTYPE else 0
    member.linkname = target
    return member.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")


def _is_git(path: str) -> bool:
    return ".git" in path.split("/")


def _takes_git(path: str, beside_head: bool, selection: Selection) -> bool:
    """Hooks are the directories of this name beside the file HEAD of a repository, or of a submodule's."""
    parts = path.split("/")
    inside = parts[parts.index(".git") + 1 :]
    is_hooks = inside[-1:] == ["hooks"] and inside[0] not in ("refs", "logs") and beside_head
    return selection.git_hooks or not is_hooks


def _unreadable(path: str, error: OSError) -> InvalidArgumentError:
    return _error(path, error.strerror or str(error))


def _error(path: str, reason: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"cannot upload {path or '.'}: {reason}")
