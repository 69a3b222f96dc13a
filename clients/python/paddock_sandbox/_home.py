"""What may come home from a sandbox.

The threat: programs that are run here find it, and run what it names: git in any directory that looks like a
repository, editors and shells what has the right name.
"""

from __future__ import annotations

import os
import re
from typing import Dict, FrozenSet, List, NamedTuple, Optional, Sequence, Set, Tuple

from ._glob import Glob
from ._home_table import LAYOUTS, ON_SIGHT
from ._refusals import link_refused, meaning, refused, repository_of
from .messages import FileChange

#: Names that are parts of a layout, as a local file system shows them.
_PIECES = {"HEAD" if name == "head" else name for layout in LAYOUTS for name in layout}
_LOSS = "values that are here, of which the sandbox saw placeholders only, would be lost"
#: A short name of Windows may be that of any file.
_SHORT = re.compile(r"[^~]{1,6}~\d+(\..{0,3})?\Z", re.DOTALL)

_NAMES: Dict[str, List[Tuple[Sequence[str], str]]] = {}
_GLOBS: List[Tuple[Glob, str]] = []
for _pattern, _tool in ON_SIGHT:
    _parts = _pattern.split("/")
    if "*" in _parts[-1]:
        _glob = Glob.parse(_parts[-1].encode(), False)
        assert _glob is not None
        _GLOBS.append((_glob, _tool))
    else:
        _NAMES.setdefault(_parts[-1], []).append((_parts, _tool))


class Program(NamedTuple):
    """What runs a path, and the path that it looks for: this one, or one above it."""

    tool: str
    path: str


def runs_on_sight(path: str) -> Optional[Program]:
    """What tools run without being asked to: when a directory is entered or opened, or at a commit."""
    names = path.split("/")
    meant = [meaning(each) for each in names]
    for count in range(1, len(names) + 1):
        tool = _tool_of(meant[:count])
        if tool is not None:
            return Program(tool, "/".join(names[:count]))
    short = next((index for index, each in enumerate(names) if _SHORT.match(each)), None)
    if short is None:
        return None
    return Program("a tool that knows it by another name", "/".join(names[: short + 1]))


def _tool_of(names: List[str]) -> Optional[str]:
    for parts, tool in _NAMES.get(names[-1], ()):
        if names[-len(parts) :] == list(parts):
            return tool
    name = [os.fsencode(names[-1])]
    return next((tool for glob, tool in _GLOBS if glob.matches(name)), None)


def _is_within(path: str, above: str) -> bool:
    return path == above or path.startswith(f"{above}/")


def _is_repository(pieces: Set[str]) -> bool:
    return any(pieces.issuperset(layout) for layout in LAYOUTS)


class Home:
    """Decides for one directory. `allow`: paths that may come although tools run them on sight or values are lost."""

    def __init__(self, root: str, git: bool = False, allow: Sequence[str] = ()) -> None:
        self._root = root
        self._git = git
        self._allow = tuple(allow)
        self._local: Dict[str, FrozenSet[str]] = {}
        #: Parts of a layout that came, by directory.
        self._came: Dict[str, Set[str]] = {}

    def refusal(self, path: str, is_directory: bool = False) -> str:
        """Why a path does not come, after all that came before; empty if it may."""
        reason = refused(path, self._git, is_directory) or self._layout(path, True)
        if reason:
            return reason
        program = runs_on_sight(path)
        if program is None or self._is_allowed(path):
            return ""
        return f"{program.tool} would run it on sight: allow={[program.path]!r} brings it"

    def loss(self, change: FileChange) -> str:
        """Why it does not come: values that the sandbox did not see may be only here."""
        if not change.loses_values or self._is_allowed(change.path):
            return ""
        return f"{_LOSS}: allow={[change.path]!r} brings it"

    def _is_allowed(self, path: str) -> bool:
        return any(not each or _is_within(path, each) for each in self._allow)

    def removal(self, path: str, is_directory: bool) -> str:
        """Why something here may not be removed."""
        return refused(path, self._git, is_directory) or self._layout(path, False)

    def member_refusal(self, path: str, is_directory: bool, target: Optional[str]) -> str:
        """The same of what arrives in the place of what was announced. `target`: of a symlink."""
        return refused(path, self._git, is_directory) or ("" if target is None else link_refused(path, target))

    def _layout(self, path: str, comes: bool) -> str:
        names = path.split("/")
        for index, name in enumerate(names):
            # What is in it was decided by that name.
            if repository_of(name) is not None:
                return ""
            directory = "/".join(names[:index])
            local = self._pieces_in(directory)
            shown = directory or "the directory"
            if _is_repository(set(local)):
                return f"{shown} is a repository of git"
            piece = meaning(name)
            if not comes or not any(piece in layout for layout in LAYOUTS):
                continue
            came = self._came.setdefault(directory, set())
            if _is_repository({*local, *came, piece}):
                return f"{shown} would become a repository of git"
            came.add(piece)
        return ""

    def _pieces_in(self, directory: str) -> FrozenSet[str]:
        found = self._local.get(directory)
        if found is None:
            full = os.path.join(self._root, directory)
            found = frozenset(meaning(each) for each in _PIECES if os.path.lexists(os.path.join(full, each)))
            self._local[directory] = found
        return found
