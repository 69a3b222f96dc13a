"""Why changes do not come to a local directory: what the server says, with what was asked for."""

from __future__ import annotations

import os
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence

from ._layout import Layout
from .messages import ChangeKind, FileChange


class Refusal(NamedTuple):
    """Why something does not come. `is_left`: another pull may bring it."""

    reason: str
    is_left: bool = False


def refusals_of(root: str, changes: Sequence[FileChange], git: bool, allow: Sequence[str]) -> Dict[str, Refusal]:
    """By path, in the order of the changes."""
    layout, found = Layout(root), {}
    for change in changes:
        path = change.path
        refusal = refusal_for(change, git, allow) if is_path(path) else Refusal("not a path below the directory")
        if refusal is None and (reason := layout.refusal(path, change.kind == ChangeKind.DELETED)):
            refusal = Refusal(reason)
        if refusal is not None:
            found[path] = refusal
    return found


def refusal_for(change: FileChange, git: bool, allow: Sequence[str]) -> Optional[Refusal]:
    """What is left of the server's refusal with what was asked for; None: it comes."""
    if change.local is None:
        return Refusal("the server did not say whether it may come")
    refusal = change.local.refusal
    if refusal is None:
        return None
    if not git if refusal.git else not refusal.allow:
        return Refusal(refusal.reason)
    if not refusal.allow or any(not each or is_within(change.path, each) for each in allow):
        return None
    return Refusal(f"{refusal.reason}: allow={[refusal.allow]!r} brings it", True)


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
