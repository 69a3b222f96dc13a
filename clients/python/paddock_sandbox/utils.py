"""Functions of the reference interface for local directories and names."""

from __future__ import annotations

import os
from typing import Iterator, Optional, Sequence, Tuple, Union

from ._tree import Selection, files_of

Directory = Union[str, "os.PathLike[str]"]


def walk_directory(
    path: Directory, ignore_patterns: Optional[Sequence[str]] = None, *, gitignore: bool = False
) -> Iterator[Tuple[str, bytes]]:
    """The files that `from_local` would upload, without `.git`: path and content. Symlinks are left out."""
    root = os.fspath(path)
    for each in files_of(root, Selection(tuple(ignore_patterns or ()), gitignore, git=False)):
        full = os.path.join(root, each)
        if os.path.isfile(full) and not os.path.islink(full):
            with open(full, "rb") as file:
                yield each, file.read()


def count_files(path: Directory, ignore_patterns: Optional[Sequence[str]] = None) -> Tuple[int, int]:
    """The number of these files, and their bytes."""
    root = os.fspath(path)
    found = [
        os.path.join(root, each)
        for each in files_of(root, Selection(tuple(ignore_patterns or ()), git=False))
    ]
    sizes = [os.lstat(each).st_size for each in found if os.path.isfile(each) and not os.path.islink(each)]
    return len(sizes), sum(sizes)


def human_readable_size(size: int) -> str:
    """Bytes with a unit: "1.5 MB", in powers of 1024."""
    value = float(size)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TB"


def generate_codebase_name(path: Directory) -> str:
    """The name of a directory, as a name for its codebase."""
    name = os.path.basename(os.path.realpath(path)) or "root"
    return name.encode("utf-8", "replace").decode()[:255]


def generate_owner_id() -> str:
    """The empty owner: that of the key. (The reference interface makes one of the user's name.)"""
    return ""
