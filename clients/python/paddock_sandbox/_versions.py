"""Versions of files, and which paths of a sandbox are never written locally."""

from __future__ import annotations

import hashlib
import os
import stat
import tarfile
from typing import IO


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
    """Whether a symlink leads out of the directory, or into .git, as far as its text says."""
    if target.startswith("/"):
        return True
    parts = path.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return True
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return any(part.lower() == ".git" for part in parts)


def refused(path: str, git: bool) -> str:
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "not a path below the directory"
    lower = [part.lower() for part in parts]
    if ".git" not in lower:
        return ""
    inside = lower[lower.index(".git") + 1 :]
    if not git:
        return "part of .git, which is pulled on request only"
    if "hooks" in inside or any(part.startswith("config") for part in inside):
        return "git would run it, or what it names"
    return ""
