"""Versions of files, and which paths of a sandbox are never written locally."""

from __future__ import annotations

import hashlib
import os
import stat
import tarfile
from typing import IO

#: Names in a repository whose content git runs, or that lead it to another repository.
_RUN = {"hooks", "commondir", "gitdir", "rebase-merge", "rebase-apply", "sequencer"}


def version_of(file: "IO[bytes]") -> str:
    """SHA-256 of a file's content."""
    digest = hashlib.sha256()
    for piece in iter(lambda: file.read(256 * 1024), b""):
        digest.update(piece)
    return digest.hexdigest()


def link_version(target: str) -> str:
    """The same of a symlink. No content of a file has it."""
    return f"-> {target}"


def member_version(tar: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    if member.issym():
        return link_version(member.linkname)
    content = tar.extractfile(member)
    return version_of(content) if content is not None else ""


def is_real_directory(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def leads_out(path: str, target: str) -> bool:
    """Whether a symlink may lead out of the directory, or into .git.

    A ".." after a name is refused: the name may be a symlink itself, whose parent is elsewhere than the text says.
    """
    if target.startswith("/"):
        return True
    parts = path.split("/")[:-1]
    named = False
    for part in target.split("/"):
        if part == "..":
            if named or not parts:
                return True
            parts.pop()
        elif part not in ("", "."):
            named = True
            parts.append(part)
    return any(part.lower() == ".git" for part in parts)


def refused(path: str, git: bool, is_directory: bool) -> str:
    """Why a path is never written; empty if it may be."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "not a path below the directory"
    lower = [part.lower() for part in parts]
    if ".git" not in lower:
        return ""
    inside = lower[lower.index(".git") + 1 :]
    if not git:
        return "part of .git, which is pulled on request only"
    if lower[-1] == ".git" and not is_directory:
        return "git would use the repository that it names"
    if any(part in _RUN or part == ".git" or part.startswith("config") for part in inside):
        return "git would run it, or what it names"
    return ""
