"""Which of the chosen changes come only together."""

from __future__ import annotations

from typing import Callable, Dict, Iterable, Iterator, List, Mapping, Set

from ._paths import is_within
from ._plan import above
from ._renames import Renames
from .messages import ChangeKind, FileChange, FileType


class Together:
    """A new name comes only if the old one goes; that goes, or gets other contents, only if a new one comes.

    What is in a directory comes only if that does. A directory goes, or is replaced, only if what is in it goes.
    A renamed directory comes only with all that was renamed with it.
    """

    def __init__(self, chosen: Mapping[str, FileChange], renames: Renames) -> None:
        """`chosen`: what is in a directory is after it."""
        self._chosen = chosen
        self._renames = renames
        #: By path, the directory above it that goes with it.
        self._from: Dict[str, str] = {}
        #: By path, what is above it and must come, because it comes there, or goes with what is replaced.
        self._into: Dict[str, str] = {}
        #: The other way round.
        self._below: Dict[str, List[str]] = {}
        for path in chosen:
            self._place(path)

    def _place(self, path: str) -> None:
        at = path.rpartition("/")[0]
        while at and at not in self._chosen:
            at = at.rpartition("/")[0]
        if not at:
            return
        goes = self._chosen[at].kind == ChangeKind.DELETED
        if goes or self._chosen[at].type != FileType.DIRECTORY:
            self._from[path] = at
        into = self._into.get(at) if goes else at
        if into is not None:
            self._into[path] = into
            self._below.setdefault(into, []).append(path)

    def without(self, left: Iterable[str], is_here: Callable[[str], bool]) -> Set[str]:
        """What does not come, with all that then does not, either. `is_here`: what is here already needs nothing."""
        found, waiting, coming = set(left), list(left), {}  # type: ignore[var-annotated]
        while waiting:
            for each in self._needing(waiting.pop(), coming):
                if each in self._chosen and each not in found and not is_here(each):
                    found.add(each)
                    waiting.append(each)
        return found

    def _needing(self, path: str, coming: Dict[str, int]) -> Iterator[str]:
        """`coming`: how many of its new names come, by old name."""
        yield from self._renames.followers_of(path)
        old = self._renames.old_name_of(path)
        if old is not None:
            if old not in coming:
                coming[old] = sum(each in self._chosen for each in self._renames.new_names_of(old))
            coming[old] -= 1
            if not coming[old]:
                yield old
        yield from self._moved_with(path)
        yield from self._below.get(path, ())
        if path in self._from:
            yield self._from[path]

    def _moved_with(self, path: str) -> Iterator[str]:
        """The renamed directories that it was renamed with: they come whole."""
        old = self._chosen[path].renamed_from if path in self._chosen else ""
        for each in above(path):
            origin = self._chosen[each].renamed_from if each in self._chosen else ""
            if origin and is_within(old, origin):
                yield each
