# Generated from _async/pulling.py by `npm run generate`; do not edit.
"""Brings the changes of a sandbox to a local directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

from .._arguments import require_arguments
from .._hunks import Taken, check, old_paths, with_hunks
from .._paths import require_directory
from .._pull import Pull
from .._pulled import Pulled, PullOptions
from .._pulled import check as check_options
from .._renames import may_be_moved
from .._room import without
from ..errors import ConflictError, InvalidArgumentError
from ..messages import ChangeKind, ChosenHunks, FileChange
from ..requests import ExportChangesRequest
from .concurrency import fed, in_thread

if TYPE_CHECKING:
    import os

    from .changes import Changes

Paths = Optional[Sequence[str]]


def checked_paths(paths: Paths) -> Paths:
    """The service takes no path for all of them."""
    if paths is not None and not paths:
        raise InvalidArgumentError("paths must be a list with at least one path; leave it out for all changes")
    return paths


def _checked(id: str, directory: "Union[str, os.PathLike[str]]", paths: Paths, options: PullOptions) -> str:
    check_options(options)
    given = {name: value for name, value in options.items() if name not in _OWN - {"exclude"}}
    require_arguments("ExportChanges", {"sandbox_id": id, "format": "tar", "paths": checked_paths(paths), **given})
    return require_directory(directory)


def pulled(
    sandbox: "Changes", into: "Union[str, os.PathLike[str]]", paths: Paths, options: PullOptions
) -> Pulled:
    """See `pull` of a sandbox."""
    try:
        directory = _checked(sandbox.id, into, paths, options)
    except Exception as error:
        sandbox._unpulled.refused(error)
        raise
    if options.get("dry_run"):
        return (_pulled(sandbox, directory, paths, options))[0]
    try:
        result, left = _pulled(sandbox, directory, paths, options)
    except BaseException as error:
        sandbox._unpulled.failed(paths, options, error)
        raise
    left = [*result.conflicts, *result.failed, *left]
    sandbox._unpulled.pulled(paths, options, left, [*result.applied, *result.unchanged])
    return result


def _pulled(
    sandbox: "Changes", directory: str, paths: Paths, options: PullOptions
) -> Tuple[Pulled, List[str]]:
    """Also what another pull may bring."""
    on_conflict, hunks, exclude = options.get("on_conflict", "keep"), options.get("hunks", ()), options.get("exclude")
    if hunks and not ("only" in options and paths is None):
        paths = [*(paths or ()), *(each.path for each in hunks)]
    pull = Pull(directory, paths or (), options)
    try:
        parts, removals = _parts(sandbox, hunks)
        # The service refuses what it does not know.
        rest: Any = {name: value for name, value in options.items() if name not in _OWN}
        found = sandbox.changes(paths, exclude=exclude, local=True, **rest)
        listed = pull.choose(found, parts, removals)
        lists = (paths or exclude) and any(map(may_be_moved, pull.chosen))
        all_listed = sandbox.changes(**rest) if lists else listed
        in_thread(pull.take, all_listed)
        result = in_thread(pull.decide)
        if on_conflict == "raise" and result.conflicts:
            error = ConflictError(f"edited locally since they were brought in: {', '.join(result.conflicts[:10])}")
            error.paths = result.conflicts
            raise error
        if options.get("dry_run"):
            return result, []
        left = [*(exclude or ()), *without(pull.too_large)]
        in_thread(pull.sweep)
        for last in (False, True):
            if needed := pull.needed(last):
                pieces = sandbox._export("tar", paths, exclude=left or None, **rest).pieces()
                try:
                    fed(pull.write, pieces, needed)
                finally:
                    pieces.close()
        return in_thread(pull.remove), pull.left
    finally:
        pull.close()


#: Options that are not of the calls.
_OWN = frozenset(PullOptions.__annotations__) - frozenset(ExportChangesRequest.__annotations__) | {"exclude"}


def _parts(
    sandbox: "Changes", hunks: Sequence[ChosenHunks]
) -> Tuple[Dict[str, Taken], List[FileChange]]:
    """What is taken of files with hunks, by path, and the removals of the old paths of renamed ones."""
    parts: Dict[str, Taken] = {}
    if not hunks:
        return parts, []
    checked = check(hunks, sandbox.changes([each.path for each in hunks], diff=True))
    for choice in hunks:
        change = checked[choice.path]
        assert change.diff is not None
        path = (old_paths([change]) or [choice.path])[0]
        base = sandbox.api.download_file(codebase_id=sandbox.codebase_id, file_path=path).read()
        content = with_hunks(base, change.diff.hunks, choice.indexes, choice.path)
        parts[choice.path] = Taken(content, change.diff.base_mode)
    old = old_paths(checked.values())
    removals = sandbox.changes(old, local=True) if old else []
    return parts, [each for each in removals if each.kind == ChangeKind.DELETED and each.path in old]
