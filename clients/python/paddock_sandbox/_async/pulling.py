"""Brings the changes of a sandbox to a local directory."""

from __future__ import annotations

import tempfile
from typing import IO, TYPE_CHECKING, Dict, List, Optional, Sequence, Tuple

from .._hunks import Taken, check, old_paths, with_hunks
from .._pull import Pull
from .._pulled import Pulled, PullOptions
from .._room import without
from ..errors import ConflictError, InvalidArgumentError
from ..messages import ChangeKind, ChosenHunks, FileChange
from .concurrency import in_thread

if TYPE_CHECKING:
    from .changes import AsyncChanges

Paths = Optional[Sequence[str]]


async def pulled(sandbox: "AsyncChanges", directory: str, paths: Paths, options: PullOptions) -> Pulled:
    """See `pull` of a sandbox."""
    on_conflict, hunks, exclude = options.get("on_conflict", "keep"), options.get("hunks", ()), options.get("exclude")
    if on_conflict not in ("keep", "replace", "raise"):
        raise InvalidArgumentError('on_conflict must be "keep", "replace" or "raise"')
    if hunks and not ("only" in options and paths is None):
        paths = [*(paths or ()), *(each.path for each in hunks)]
    pull = Pull(directory, paths or (), options)
    try:
        parts, removals = await _parts(sandbox, hunks)
        listed = await sandbox.changes(paths, exclude=exclude, local=True)
        await in_thread(pull.take, listed, parts, removals)
        result = await in_thread(pull.decide)
        if on_conflict == "raise" and result.conflicts:
            if not options.get("dry_run"):
                sandbox._unpulled = tuple({**dict.fromkeys(sandbox._unpulled), **dict.fromkeys(result.conflicts)})
            error = ConflictError(f"edited locally since they were brought in: {', '.join(result.conflicts[:10])}")
            error.paths = result.conflicts
            raise error
        if options.get("dry_run"):
            return result
        left = [*(exclude or ()), *without(pull.too_large)]
        with tempfile.TemporaryFile() as archive:
            if pull.has_contents:
                # Each member has a header, and its name may take some blocks.
                await _receive(archive, sandbox, paths, left, pull.max_bytes, 2**14 * (len(listed) + 1))
            result = await in_thread(pull.apply, archive)
        former = [each for each in sandbox._unpulled if each not in {*result.applied, *result.unchanged}]
        left = [*result.conflicts, *result.failed, *(each.path for each in pull.too_large)]
        sandbox._unpulled = tuple(dict.fromkeys([*former, *left]))
        return result
    finally:
        pull.close()


async def _receive(
    archive: "IO[bytes]", sandbox: "AsyncChanges", paths: Paths, exclude: Sequence[str], most: int, headers: int
) -> None:
    pieces = sandbox._export("tar", paths, exclude or None).pieces()
    try:
        async for piece in pieces:
            archive.write(piece)
            if archive.tell() > most + headers:
                raise InvalidArgumentError(f"the changes have more than {most} bytes: raise max_bytes, or name paths")
    finally:
        await pieces.aclose()


async def _parts(
    sandbox: "AsyncChanges", hunks: Sequence[ChosenHunks]
) -> Tuple[Dict[str, Taken], List[FileChange]]:
    """What is taken of files with hunks, by path, and the removals of the old paths of renamed ones."""
    parts: Dict[str, Taken] = {}
    if not hunks:
        return parts, []
    checked = check(hunks, await sandbox.changes([each.path for each in hunks], diff=True))
    for choice in hunks:
        change = checked[choice.path]
        assert change.diff is not None
        path = (old_paths([change]) or [choice.path])[0]
        base = await sandbox.api.download_file(codebase_id=sandbox.codebase_id, file_path=path).read()
        content = with_hunks(base, change.diff.hunks, choice.indexes, choice.path)
        parts[choice.path] = Taken(content, change.diff.base_mode)
    old = old_paths(checked.values())
    removals = await sandbox.changes(old, local=True) if old else []
    return parts, [each for each in removals if each.kind == ChangeKind.DELETED and each.path in old]
