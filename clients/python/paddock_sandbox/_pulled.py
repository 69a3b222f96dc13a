"""Options and outcome of a pull."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Callable, Mapping, Optional, Sequence, Tuple

from ._forms import require_form
from .errors import InvalidArgumentError
from .messages import ChosenHunks
from .requests import CallOptions


class PullOptions(CallOptions, total=False):
    """Options of a pull.

    Attributes:
        exclude: Globs, as in rules, of changes to leave out.
        include_scratch: Also what was written at scratch paths.
        only: Chooses paths one by one, besides `paths` and `exclude`.
        on_conflict: What happens to local files that were edited, too. "keep", the default: they stay; "replace": they
            are lost; "raise": `ConflictError`, and nothing is written.
        git: Also changes in .git, except those by which git would run programs.
        allow: Paths that are brought, each with everything below, although tools run them on sight, or values are lost.
        hunks: Modified or renamed files of which only some hunks come, from `chosen_hunks`; without `paths` and `only`
            nothing else does.
        max_bytes: Of contents that may come, 1 GiB; a file that does not fit, in the order of paths, is left out.
        dry_run: Change nothing, and only report.
    """

    exclude: Optional[Sequence[str]]
    include_scratch: Optional[bool]
    only: Callable[[str], bool]
    on_conflict: str
    git: bool
    allow: Sequence[str]
    hunks: Sequence[ChosenHunks]
    max_bytes: int
    dry_run: bool


@dataclasses.dataclass(frozen=True)
class Pulled:
    """What a pull did.

    Attributes:
        applied: Paths that were written or removed here.
        unchanged: Paths that have the sandbox's version already.
        conflicts: Paths that were edited here, too, or cannot be written without following a symlink; and what would
            come only together with one that does not come, like the other path of a rename. They are as they were.
        skipped: Reasons by path of what is not brought: repositories like .git, what would make a directory one, what
            tools run on sight, symlinks that lead out of the directory, what would lose values that the sandbox saw as
            placeholders, files that `max_bytes` has no room for, one path of a rename, and what changed meanwhile.
        failed: Errors by path: what the local file system refused, and names that are not UTF-8. It is as it was.
    """

    applied: Tuple[str, ...] = ()
    unchanged: Tuple[str, ...] = ()
    conflicts: Tuple[str, ...] = ()
    skipped: Mapping[str, str] = dataclasses.field(default_factory=dict)
    failed: Mapping[str, OSError] = dataclasses.field(default_factory=dict)


def check(options: PullOptions) -> None:
    """Misspelt, "raise" would write where nothing was to be written."""
    require_form("on_conflict", options.get("on_conflict"), "one keep|replace|raise")
    if "" in (options.get("allow") or ()):
        raise InvalidArgumentError("allow must be a list of paths that are not empty")


def answered(only: Callable[[str], bool], path: str) -> bool:
    """What is no answer, like the coroutine of an async function, is not taken for one."""
    answer = only(path)
    if isinstance(answer, bool):
        return answer
    if inspect.iscoroutine(answer):
        answer.close()
    raise InvalidArgumentError("only must return true or false")
