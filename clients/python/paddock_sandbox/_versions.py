"""Versions of files."""

from __future__ import annotations

import hashlib
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
