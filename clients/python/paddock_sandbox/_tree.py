"""What of a local directory is uploaded, and as which archive."""

from __future__ import annotations

import dataclasses
import os
import re
import stat
import subprocess
import tarfile
from typing import Iterator, List, Optional, Pattern, Set, Tuple

from ._http import PIECE
from .errors import UploadError

_BLOCK = 512


@dataclasses.dataclass(frozen=True)
class Selection:
    """Which files of a directory are taken; see `upload_directory`."""

    ignore_patterns: Tuple[str, ...] = ()
    gitignore: bool = False
    git: bool = True
    hooks: bool = False


def files_of(directory: str, selection: Selection) -> Iterator[str]:
    """The paths of files, symlinks and directories, relative to the directory, each after those above it.

    Sockets, FIFOs and devices are left out. Symlinks are not followed. `UploadError` if something cannot be read.
    """
    if not os.path.isdir(directory):
        raise UploadError(f"{directory} is not a directory")
    lines = [each.strip() for each in selection.ignore_patterns]
    ignored = [_compiled(each) for each in lines if each and not each.startswith("#")]
    listed = _listed_by_git(directory) if selection.gitignore else None
    yield from _walk(directory, "", selection, ignored, listed)


def _walk(
    root: str, parent: str, selection: Selection, ignored: List[Pattern[str]], listed: Optional[Set[str]]
) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(os.path.join(root, parent)), key=lambda each: each.name)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unreadable(parent, error) from error
    names = {each.name for each in entries}
    for entry in entries:
        path = f"{parent}/{entry.name}" if parent else entry.name
        is_directory = entry.is_dir(follow_symlinks=False)
        below = listed
        if _is_git(path):
            below = None
            if not _takes_git(path, "HEAD" in names, selection):
                continue
        elif listed is not None:
            if is_directory and path in listed:
                # A repository in the repository: git names it as one entry, and has not looked into it.
                below = _listed_in(root, path)
            elif path not in listed and f"{path}/" not in listed:
                continue
        shown = f"{path}/" if is_directory else path
        if any(each.search(shown) for each in ignored):
            continue
        if is_directory:
            yield path
            yield from _walk(root, path, selection, ignored, below)
        elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
            yield path


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
    return selection.git and (selection.hooks or not is_hooks)


def _listed_in(root: str, path: str) -> Optional[Set[str]]:
    """The same of a repository in the directory; None: it is no repository (yet), and all of it is taken."""
    inner = os.path.join(root, path)
    if not os.path.lexists(os.path.join(inner, ".git")):
        return None
    return {f"{path}/{each}" for each in _listed_by_git(inner)}


def _listed_by_git(directory: str) -> Set[str]:
    """The files that git does not ignore, and the directories above them with "/" at the end."""
    command = ["git", "-C", directory, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        raise UploadError(f"gitignore needs git: {error}") from error
    if done.returncode != 0:
        reason = done.stderr.decode(errors="replace").strip()
        raise UploadError(f"gitignore needs a git repository at {directory}: {reason}")
    found: Set[str] = set()
    for name in done.stdout.split(b"\0"):
        path = os.fsdecode(name).rstrip("/")
        found.add(path)
        while "/" in path:
            path = path.rpartition("/")[0]
            found.add(f"{path}/")
    return found - {""}


def _compiled(pattern: str) -> Pattern[str]:
    """A line of .gitignore as an expression for paths; those of directories end with "/"."""
    text = pattern.strip()
    if text.startswith("!"):
        raise UploadError(f"ignore_patterns: {pattern!r}: a pattern cannot begin with '!'")
    anchored = "/" in text.rstrip("/")
    end = "/" if text.endswith("/") else "/?$"
    body = _expression(text.strip("/"))
    return re.compile(f"^{body}{end}" if anchored else f"(?:^|/){body}{end}")


def _expression(glob: str) -> str:
    parts = re.split(r"(\*\*/|/\*\*$|\*|\?|\[[^\]]+\])", glob)
    known = {"**/": "(?:.*/)?", "/**": "/.+", "*": "[^/]*", "?": "[^/]"}
    return "".join(
        known.get(part) or (part.replace("[!", "[^", 1) if part.startswith("[") else re.escape(part))
        for part in parts
    )


def _unreadable(path: str, error: OSError) -> UploadError:
    return _error(path, error.strerror or str(error))


def _error(path: str, reason: str) -> UploadError:
    failed = UploadError(f"cannot upload {path or '.'}: {reason}")
    failed.file_path = path
    return failed
