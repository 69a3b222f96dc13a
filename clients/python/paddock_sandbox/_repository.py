"""Where the repository of a local directory is."""

from __future__ import annotations

import os
import re
from typing import Optional

from ._tree import Selection, takes
from .errors import InvalidArgumentError


def require_own_repository(directory: str, selection: Selection) -> None:
    """`InvalidArgumentError` for a linked worktree or a submodule: its repository is elsewhere."""
    leads = _repository_of(os.path.join(directory, ".git"))
    if leads is None or not takes(".git", selection):
        return
    root = os.path.realpath(directory)
    repository = os.path.realpath(os.path.join(root, leads))
    if not (repository + os.sep).startswith(os.path.join(root, "")):
        raise InvalidArgumentError(
            f"the .git of {directory} is a link, and its repository is {repository}, outside of the directory: "
            "upload the repository's main worktree, or leave .git out by exclude"
        )


def _repository_of(path: str) -> Optional[str]:
    """Where a file or symlink .git leads to; None: it is neither."""
    if os.path.islink(path):
        return os.readlink(path)
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        found = re.fullmatch(rb"gitdir: (.*?)[\r\n]*", file.read(65536), re.DOTALL)
    return os.fsdecode(found.group(1)) if found else None
