"""Why changes do not come to a local directory: what the server says, with what was asked for."""

from __future__ import annotations

import os
from typing import Dict, List, NamedTuple, Optional, Sequence

from ._layout import Layout
from ._links import Links
from ._paths import is_within
from .messages import ChangeKind, FileChange, LocalRefusal


class Refusal(NamedTuple):
    """Why something does not come. `is_left`: another pull may bring it."""

    reason: str
    is_left: bool = False


class Judge:
    """What may come to a directory: by its name, as the server says, and by the symlinks that are there."""

    def __init__(self, root: str, changes: Sequence[FileChange]) -> None:
        """`changes`: those that are asked for."""
        writes = any(each.kind != ChangeKind.DELETED for each in changes)
        self._root = root
        self._changes = changes
        self._links = Links(root, below=writes)

    def refusals(self, git: bool, allow: Sequence[str]) -> Dict[str, Refusal]:
        """By path, in the order of the changes."""
        layout, found = Layout(self._root), {}
        for change in self._changes:
            path = change.path
            refusal = self._left(change, git, allow) if is_path(path) else Refusal("not a path below the directory")
            if refusal is None and (reason := layout.refusal(path, change.kind == ChangeKind.DELETED)):
                refusal = Refusal(reason)
            if refusal is not None:
                found[path] = refusal
        return found

    def named_in(self, paths: Sequence[str]) -> List[str]:
        """Chosen paths that are themselves, or are in, what must be allowed by name; not for lost values."""
        changes = [each for each in self._changes if paths and is_path(each.path) and not each.loses_values]
        needed = {each.allow for change in changes for each in self._judged(change) if each.allow}
        return [each for each in paths if any(is_within(each, above) for above in needed)]

    def _left(self, change: FileChange, git: bool, allow: Sequence[str]) -> Optional[Refusal]:
        """What is left of the refusals with what was asked for; None: it comes."""
        if change.local is None:
            return Refusal("the server did not say whether it may come")
        for refusal in self._judged(change):
            if not git if refusal.git else not refusal.allow:
                return Refusal(refusal.reason)
            if refusal.allow and not any(not each or is_within(change.path, each) for each in allow):
                return Refusal(f"{refusal.reason}: allow={[refusal.allow]!r} brings it", True)
        return None

    def _judged(self, change: FileChange) -> List[LocalRefusal]:
        local, found = change.local, []
        if local is not None and local.refusal is not None:
            found.append(local.refusal)
        if local is not None and change.kind != ChangeKind.DELETED:
            refusal = self._links.refusal(change.path, change.type, local.link_target)
            if refusal is not None:
                found.append(refusal)
        return found


def is_path(path: str, separator: str = os.sep) -> bool:
    """Where a backslash separates, a colon names a drive or a stream of another file."""
    unsafe = "\0" if separator == "/" else "\0\\:"
    return not any(part in ("", ".", "..") or any(each in unsafe for each in part) for part in path.split("/"))
