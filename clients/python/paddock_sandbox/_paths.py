"""Paths of files in a workspace, and in a local directory."""

from __future__ import annotations

import unicodedata

WORKSPACE = "/workspace"


def in_workspace(path: str) -> str:
    """The path from the root of the workspace, of one that a command in the sandbox would use, or of that itself."""
    if path == WORKSPACE or path.startswith(f"{WORKSPACE}/"):
        path = path[len(WORKSPACE) :]
    return path.lstrip("/")


def is_within(path: str, above: str) -> bool:
    """Whether it is a path, or below it."""
    return path == above or path.startswith(f"{above}/")


def folded(path: str) -> str:
    """Where upper and lower case are one."""
    return unicodedata.normalize("NFC", path).lower()
