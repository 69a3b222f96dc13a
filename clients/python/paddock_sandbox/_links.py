"""The symlinks of a local directory.

The threat: a tool that runs `.vscode/tasks.json` on sight runs `conf/tasks.json` if `.vscode` leads to `conf`. The
server judges the second name only, and does not know what is here.
"""

from __future__ import annotations

import json
import os
import re
from typing import Iterable, List, NamedTuple, Optional

from ._on_sight import ON_SIGHT, REPOSITORIES
from ._paths import folded, is_within
from .messages import FileType, LocalRefusal


def _any_of(patterns: Iterable[str]) -> str:
    globs = (re.escape(each).replace(r"\*", "[^/]*") for each in patterns)
    return f"(^|/)({'|'.join(globs)})"


_FIRST = [each.partition("/")[0] for each in ON_SIGHT if "/" in each]
_REPOSITORY = re.compile(rf"{_any_of(REPOSITORIES)}(/|\Z)", re.DOTALL)
#: Also a path that such a one may be below, as `.config`.
_ON_SIGHT = re.compile(rf"{_any_of((*REPOSITORIES, *ON_SIGHT))}(/|\Z)|{_any_of(_FIRST)}\Z", re.DOTALL)
#: Of one path; the kernel follows as many.
_MOST = 40


class _Arrival(NamedTuple):
    """Where tools arrive by a symlink."""

    path: str
    by: str


class Links:
    """Looks at the directory when it is made; without `below`, only at what is directly in it."""

    def __init__(self, directory: str, below: bool = True) -> None:
        self._root = os.path.realpath(directory)
        self._arrivals = self._arrivals_of(self._found(below))

    def refusal(self, path: str, kind: FileType, target: str = "") -> Optional[LocalRefusal]:
        """Why it does not come: a tool would find it by another name, or its target leads elsewhere by what is here."""
        if kind == FileType.DIRECTORY:
            return None
        never = self._refusal_of_target(path, target) if target else ""
        if never:
            return LocalRefusal(reason=never)
        name, is_link = folded(path), kind == FileType.SYMLINK
        for place, by in self._arrivals:
            if _is_in(name, place) or (is_link and _is_in(place, name)):
                names = path.split("/")
                count = place.count("/") + 1 if place and _is_in(name, place) else len(names)
                reason = f"{json.dumps(by, ensure_ascii=False)} leads to it, which tools run on sight"
                return LocalRefusal(reason=reason, allow="/".join(names[:count]))
        return None

    def _refusal_of_target(self, path: str, target: str) -> str:
        end = self._within(self._follow(os.path.dirname(os.path.join(self._root, path)), target)[-1])
        leads = f"it is a symlink to {json.dumps(target, ensure_ascii=False)}, which leads"
        if end is None:
            return f"{leads} out of the directory by another one"
        return f"{leads} to a repository by another one" if _REPOSITORY.search(folded(end)) else ""

    def _found(self, below: bool) -> List[str]:
        links, waiting = [], [""]
        while waiting:
            above = waiting.pop()
            try:
                with os.scandir(os.path.join(self._root, above)) as entries:
                    for entry in entries:
                        path = f"{above}/{entry.name}" if above else entry.name
                        if entry.is_symlink():
                            links.append(path)
                        elif below and entry.is_dir(follow_symlinks=False):
                            waiting.append(path)
            except OSError:
                # It is gone, or nobody who runs this can look into it.
                pass
        return links

    def _arrivals_of(self, links: List[str]) -> List[_Arrival]:
        arrivals: List[_Arrival] = []
        left = {link: folded(link) for link in links}
        waiting = [(link, link) for link in links if _ON_SIGHT.search(folded(link))]
        for link, by in waiting:
            left.pop(link, None)
            above, name = os.path.split(link)
            for end in self._follow(os.path.join(self._root, above), name):
                path = self._within(end)
                if path is None:
                    continue
                arrivals.append(_Arrival(folded(path), by))
                reached = [each for each, name in left.items() if _is_in(name, folded(path))]
                for each in reached:
                    del left[each]
                waiting.extend((each, by) for each in reached)
        return arrivals

    @staticmethod
    def _follow(directory: str, path: str) -> List[Optional[str]]:
        """Where a path leads to from a directory without symlinks, at last; None: nowhere.

        Before it, where it would if a symlink on the way were replaced.
        """
        ends: List[Optional[str]] = []
        left, at = _parts_of(path), _top_of(path) or directory
        while left:
            place = os.path.normpath(os.path.join(at, left.pop(0)))
            target = _target_of(place)
            if target is None:
                at = place
                continue
            if len(ends) == _MOST:
                return [*ends, None]
            ends.append(os.path.normpath(os.path.join(place, *left)))
            at = _top_of(target) or at
            left = [*_parts_of(target), *left]
        return [*ends, at]

    def _within(self, path: Optional[str]) -> Optional[str]:
        """From the root. None: it is outside."""
        if path is None:
            return None
        names, root = path.split(os.sep), self._root.rstrip(os.sep).split(os.sep)
        if [*map(folded, names[: len(root)])] != [*map(folded, root)]:
            return None
        return "/".join(names[len(root) :])


def _is_in(path: str, above: str) -> bool:
    return not above or is_within(path, above)


def _top_of(path: str) -> str:
    """Of an absolute path: its root."""
    if not os.path.isabs(path):
        return ""
    return os.path.join(os.path.splitdrive(path)[0], os.sep)


def _parts_of(path: str) -> List[str]:
    parts = re.split(r"/" if os.sep == "/" else r"[\\/]", os.path.splitdrive(path)[1])
    return [each for each in parts if each not in ("", ".")]


def _target_of(path: str) -> Optional[str]:
    try:
        return os.readlink(path)
    except (OSError, ValueError):
        return None
