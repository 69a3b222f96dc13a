"""The symlinks of a local directory.

The threat: a tool that runs `.vscode/tasks.json` on sight runs `conf/tasks.json` if `.vscode` leads to `conf`. The
server judges the second name only, and does not know what is here.
"""

from __future__ import annotations

import json
import os
import re
from typing import Dict, Iterable, List, Optional

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
#: Characters that some file system leaves out of names.
_LEFT_OUT = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
#: Most paths are.
_PLAIN = re.compile(r"(?!.*\.(/|\Z))[\w/.-]*\Z", re.ASCII)
#: Of one path; the kernel follows as many.
_MOST = 40
#: Of a target from a sandbox, for each of which the kernel is asked.
_MOST_NAMES = 255


class Links:
    """Looks at the directory when it is made; without `below`, only at what is directly in it."""

    def __init__(self, directory: str, below: bool = True) -> None:
        self._root = os.path.realpath(directory)
        #: Where tools arrive, with the symlink by which they do, and the ways there.
        self._arrivals: Dict[str, str] = {}
        self._ways: Dict[str, str] = {}
        #: Names of the longest of them.
        self._depth = 0
        self._arrive(self._found(below))

    def refusal(self, path: str, kind: FileType, target: str = "") -> Optional[LocalRefusal]:
        """Why it does not come: a tool would find it by another name, or its target leads elsewhere by what is here."""
        if kind == FileType.DIRECTORY:
            return None
        never = self._refusal_of_target(path, target) if target else ""
        if never:
            return LocalRefusal(reason=never)
        if not self._arrivals:
            return None
        name = _meaning(path)
        place = next((each for each in _prefixes_of(name, self._depth) if each in self._arrivals), None)
        if place is not None:
            by = self._arrivals[place]
        else:
            by = self._ways.get(name, "") if kind == FileType.SYMLINK else ""
        if not by:
            return None
        names = path.split("/")
        count = place.count("/") + 1 if place else len(names)
        reason = f"{json.dumps(by, ensure_ascii=False)} leads to it, which tools run on sight"
        return LocalRefusal(reason=reason, allow="/".join(names[:count]))

    def _refusal_of_target(self, path: str, target: str) -> str:
        found = self._follow(os.path.dirname(os.path.join(self._root, path)), target, _MOST_NAMES)[-1]
        leads = f"it is a symlink to {json.dumps(target, ensure_ascii=False)}, which leads"
        if found is None:
            return f"{leads} through more names than are followed"
        end = self._within(found)
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
                        if entry.is_file(follow_symlinks=False):
                            continue
                        path = f"{above}/{entry.name}" if above else entry.name
                        # Of Windows, and no symlinks for Python.
                        if entry.is_symlink() or getattr(entry, "is_junction", bool)():
                            links.append(path)
                        elif below and entry.is_dir(follow_symlinks=False):
                            waiting.append(path)
            except OSError:
                # It is gone, or nobody who runs this can look into it.
                pass
        return links

    def _arrive(self, links: List[str]) -> None:
        waiting = [(link, link) for link in links if _ON_SIGHT.search(folded(link))]
        left = {link: _meaning(link) for link in links} if waiting else {}
        for link, by in waiting:
            left.pop(link, None)
            above, name = os.path.split(link)
            for end in self._follow(os.path.join(self._root, above), name):
                path = self._within(end)
                place = None if path is None else _meaning(path)
                if place is None or place in self._arrivals:
                    continue
                self._arrivals[place] = by
                names = place.count("/") + 1
                self._ways.update((each, by) for each in _prefixes_of(place, names))
                self._depth = max(self._depth, names)
                reached = [each for each, name in left.items() if _is_in(name, place)]
                for each in reached:
                    del left[each]
                waiting.extend((each, by) for each in reached)

    @staticmethod
    def _follow(directory: str, path: str, most: float = float("inf")) -> List[Optional[str]]:
        """Where a path leads to from a directory without symlinks, at last; None: nowhere, or through more names.

        Before it, where it would if a symlink on the way were replaced.
        """
        ends: List[Optional[str]] = []
        left, at, looked = _parts_of(path), _top_of(path) or directory, 0
        while left:
            looked += 1
            if looked > most:
                return [*ends, None]
            place = os.path.normpath(os.path.join(at, left.pop(0)))
            target = _target_of(place)
            if target is None and ".." not in left:
                # Nothing is below what is missing, but beside it.
                return [*ends, os.path.join(place, *left)]
            if not target:
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


def _meaning(path: str) -> str:
    """A path as some file system takes it: without the dots at the end of names, or streams of Windows."""
    if _PLAIN.match(path):
        return path.lower()
    kept = re.sub(r"[. ]+(?=/|\Z)", "", re.sub(r":[^/]*", "", _LEFT_OUT.sub("", path)))
    return folded(kept.upper())


def _prefixes_of(path: str, most: int) -> List[str]:
    """As many of the path and those above it, from the top: "", "a", "a/b"."""
    names = path.split("/", most)[:most]
    return ["", *("/".join(names[:count]) for count in range(1, len(names) + 1))]


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
    """Empty: it is no symlink. None: there is nothing."""
    try:
        return os.readlink(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        return ""
