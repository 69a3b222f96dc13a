"""Paths of files in a workspace."""

from __future__ import annotations

WORKSPACE = "/workspace"


def in_workspace(path: str) -> str:
    """The path from the root of the workspace, of one that a command in the sandbox would use, or of that itself."""
    if path == WORKSPACE or path.startswith(f"{WORKSPACE}/"):
        path = path[len(WORKSPACE) :]
    return path.lstrip("/")
