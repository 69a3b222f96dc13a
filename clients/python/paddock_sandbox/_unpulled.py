"""What pulls of a sandbox did not bring, and is nowhere else."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Mapping, Optional, Sequence, Tuple


class Unpulled:
    """Kept by a sandbox object, which is then not destroyed at the end of its block."""

    def __init__(self) -> None:
        self._paths: Tuple[str, ...] = ()
        #: Errors of pulls, by what they were to bring.
        self._failed: Dict[str, BaseException] = {}

    def failed(self, paths: Optional[Sequence[str]], options: Mapping[str, Any], error: BaseException) -> None:
        self._failed[_choice(paths, options)] = error

    def pulled(
        self, paths: Optional[Sequence[str]], options: Mapping[str, Any], left: Iterable[str], brought: Iterable[str]
    ) -> None:
        """`left`: paths that another pull may bring."""
        gone = {*brought}
        self._paths = tuple(dict.fromkeys([*(each for each in self._paths if each not in gone), *left]))
        if paths is None and not any(options.get(each) for each in ("exclude", "only", "hunks")):
            self._failed.clear()
        else:
            self._failed.pop(_choice(paths, options), None)

    def clear(self) -> None:
        self._paths = ()
        self._failed.clear()

    @property
    def told(self) -> str:
        """For people; empty: nothing is left."""
        for error in self._failed.values():
            return f"a pull of its changes failed ({error or type(error).__name__})"
        if not self._paths:
            return ""
        return f"{len(self._paths)} of its changes could not be pulled, for example {self._paths[0]!r}"


def _choice(paths: Optional[Sequence[str]], options: Mapping[str, Any]) -> str:
    return repr([paths, options.get("exclude"), "only" in options, options.get("hunks")])
