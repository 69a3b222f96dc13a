"""Paths of files in a workspace, and in a local directory."""

from __future__ import annotations

import os
import unicodedata
from typing import Union

from .errors import InvalidArgumentError

WORKSPACE = "/workspace"


def in_workspace(path: str) -> str:
    """The path from the root of the workspace, of one that a command in the sandbox would use, or of that itself."""
    if not isinstance(path, str):
        # The call refuses it.
        return path
    if path == WORKSPACE or path.startswith(f"{WORKSPACE}/"):
        path = path[len(WORKSPACE) :]
    return path.lstrip("/")


def require_directory(path: Union[str, "os.PathLike[str]"]) -> str:
    """Its path as text. `InvalidArgumentError` if it is no local directory."""
    # A number would be a descriptor.
    if not isinstance(path, (str, os.PathLike)) or not os.path.isdir(path):
        raise InvalidArgumentError(f"{path} is not a directory")
    return os.fspath(path)


def is_within(path: str, above: str) -> bool:
    """Whether it is a path, or below it."""
    return path == above or path.startswith(f"{above}/")


def folded(path: str) -> str:
    """Where upper and lower case are one."""
    return unicodedata.normalize("NFC", path).lower()
