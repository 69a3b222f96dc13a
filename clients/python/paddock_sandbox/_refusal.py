"""Why changes do not come to a local directory: what the server says, with what was asked for."""

from __future__ import annotations

import os
from typing import Dict, Iterable, List, Sequence

from ._layout import Layout
from .messages import ChangeKind, FileChange


def refusals_of(root: str, changes: Sequence[FileChange], git: bool, allow: Sequence[str]) -> Dict[str, str]:
    """The reasons, by path, in the order of the changes."""
    layout, found = Layout(root), {}
    for change in changes:
        reason = "" if is_path(change.path) else "not a path below the directory"
        reason = reason or refusal_for(change, git, allow)
        reason = reason or layout.refusal(change.path, change.kind == ChangeKind.DELETED)
        if reason:
            found[change.path] = reason
    return found


def refusal_for(change: FileChange, git: bool, allow: Sequence[str]) -> str:
    """What is left of the server's refusal with what was asked for; empty: it comes."""
    if change.local is None:
        return "the server did not say whether it may come"
    refusal = change.local.refusal
    if refusal is None:
        return ""
    if not git if refusal.git else not refusal.allow:
        return refusal.reason
    if not refusal.allow or any(not each or is_within(change.path, each) for each in allow):
        return ""
    return f"{refusal.reason}: allow={[refusal.allow]!r} brings it"


def named_in(paths: Sequence[str], changes: Iterable[FileChange]) -> List[str]:
    """Chosen paths that are themselves, or are in, what must be allowed by name; not for lost values."""
    refusals = [each.local.refusal for each in changes if each.local is not None and not each.loses_values]
    needed = {each.allow for each in refusals if each is not None and each.allow}
    return [each for each in paths if any(is_within(each, above) for above in needed)]


def is_within(path: str, above: str) -> bool:
    """Whether it is a path, or below it."""
    return path == above or path.startswith(f"{above}/")


def is_path(path: str, separator: str = os.sep) -> bool:
    """Where a backslash separates, a colon names a drive or a stream of another file."""
    unsafe = "\0" if separator == "/" else "\0\\:"
    return not any(part in ("", ".", "..") or any(each in unsafe for each in part) for part in path.split("/"))
