"""Versions of files."""

from __future__ import annotations

import hashlib
from typing import IO

from ._hunks import Part


def version_of(file: "IO[bytes]") -> str:
    """SHA-256 of a file's content."""
    digest = hashlib.sha256()
    for piece in iter(lambda: file.read(256 * 1024), b""):
        digest.update(piece)
    return digest.hexdigest()


def link_version(target: str) -> str:
    """The same of a symlink. No content of a file has it."""
    return f"-> {target}"


def member_version(part: Part) -> str:
    if part.member.issym():
        return link_version(part.member.linkname)
    content = part.open()
    return version_of(content) if content is not None else ""
