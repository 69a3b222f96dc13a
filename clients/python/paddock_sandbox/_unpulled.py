"""What pulls of a sandbox did not bring, and is nowhere else."""

from __future__ import annotations

from typing import Any, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple


class Unpulled:
    """Kept by a sandbox object, which is then not destroyed at the end of its block."""

    def __init__(self) -> None:
        self._paths: Tuple[str, ...] = ()
        #: Errors of pulls, with what they were to bring.
        self._failed: List[Tuple[_Choice, BaseException]] = []
        #: Of a pull that could not begin, since the last one that did.
        self._refusal: Optional[BaseException] = None

    def refused(self, error: BaseException) -> None:
        self._refusal = error

    def failed(self, paths: Optional[Sequence[str]], options: Mapping[str, Any], error: BaseException) -> None:
        choice = _choice_of(paths, options)
        self._forget(choice)
        self._failed.append((choice, error))

    def pulled(
        self, paths: Optional[Sequence[str]], options: Mapping[str, Any], left: Iterable[str], brought: Iterable[str]
    ) -> None:
        """`left`: paths that another pull may bring."""
        self._refusal = None
        gone = {*brought}
        self._paths = tuple(dict.fromkeys([*(each for each in self._paths if each not in gone), *left]))
        self._forget(_choice_of(paths, options))

    def _forget(self, choice: "_Choice") -> None:
        self._failed = [each for each in self._failed if not choice.includes(each[0])]

    def clear(self) -> None:
        self._paths = ()
        self._failed.clear()
        self._refusal = None

    @property
    def told(self) -> str:
        """For people; empty: nothing is left."""
        for _, error in self._failed:
            return f"a pull of its changes failed ({error or type(error).__name__})"
        if self._paths:
            return f"{len(self._paths)} of its changes could not be pulled, for example {self._paths[0]!r}"
        return f"a pull of its changes was refused ({self._refusal})" if self._refusal else ""


class _Choice(NamedTuple):
    is_all: bool
    selection: str
    has_hunks: bool
    only: Any
    include_scratch: bool
    git: bool

    def includes(self, other: "_Choice") -> bool:
        """Whether it surely has all that is in the other: of two functions it is not known."""
        if (other.include_scratch and not self.include_scratch) or (other.git and not self.git):
            return False
        is_wider = self.only is None and not self.has_hunks
        return self.is_all or (self.selection == other.selection and (is_wider or self.only == other.only))


def _choice_of(paths: Optional[Sequence[str]], options: Mapping[str, Any]) -> _Choice:
    exclude, hunks, only = (options.get(each) or None for each in ("exclude", "hunks", "only"))
    return _Choice(
        is_all=paths is None and not exclude and not hunks and only is None,
        selection=repr([paths, exclude, hunks]),
        has_hunks=bool(hunks),
        only=only,
        include_scratch=bool(options.get("include_scratch")),
        git=bool(options.get("git")),
    )
