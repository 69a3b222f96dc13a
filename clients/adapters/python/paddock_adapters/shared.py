"""Commands with a limit of output, and files anywhere in a sandbox, with the errors of Python."""

from __future__ import annotations

import asyncio
import errno
import os
import posixpath
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, AsyncGenerator, AsyncIterator, Awaitable, Mapping, Optional, Sequence, TypeVar, Union

from anyio import CancelScope
from paddock_sandbox import (
    AsyncProcess,
    AsyncSandbox,
    NotFoundError,
    PermissionDeniedError,
    FailedPreconditionError,
    PaddockError,
)

WORKSPACE = "/workspace"
T = TypeVar("T")


async def settled(work: "asyncio.Future[T]") -> T:
    """The result of what must not be left half done. A cancellation meanwhile, of any kind, is raised after it."""
    cancellation = None
    with CancelScope(shield=True):
        while not work.done():
            try:
                await asyncio.wait([work])
            except asyncio.CancelledError as error:
                cancellation = error
    if cancellation is not None:
        # Asked for, so that it is not reported as an error that nobody saw.
        work.cancelled() or work.exception()
        raise cancellation
    return work.result()


async def within(work: Awaitable[T], seconds: Optional[float]) -> T:
    """As `asyncio.wait_for`, which loses a cancellation that comes as the work ends, before Python 3.12."""
    if seconds is None:
        return await work
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task], timeout=seconds)
        if not task.done():
            raise asyncio.TimeoutError
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
        # Asked for, so that it is not reported as an error that nobody saw.
        _ = task.cancelled() or task.exception()


@asynccontextmanager
async def started(
    sandbox: AsyncSandbox, argv: Union[str, Sequence[str]], **options: Any
) -> AsyncIterator[AsyncProcess]:
    """A process that ends with the context, also if the caller is cancelled while it is started."""
    starting = asyncio.ensure_future(sandbox.start(argv, **options))
    try:
        yield await settled(starting)
    finally:
        if starting.done() and not starting.cancelled() and starting.exception() is None:
            await settled(asyncio.ensure_future(starting.result().delete()))


class TooMuchOutput(Exception):
    """Of one stream. The command was killed."""

    def __init__(self, beginning: bytes) -> None:
        super().__init__("too much output")
        self.beginning = beginning


@dataclass
class Ended:
    """A command that ended. `reason`: as of `ProcessEnd`."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    reason: str


async def run(
    sandbox: AsyncSandbox,
    argv: Union[str, Sequence[str]],
    *,
    stdin: Optional[bytes] = None,
    cwd: Optional[str] = None,
    env: Optional[Mapping[str, str]] = None,
    timeout: Optional[float] = None,
    limit: int = 10 * 1024 * 1024,
) -> Ended:
    """Runs a command to its end. What it left running goes on.

    TimeoutError after so many seconds, and TooMuchOutput of a stream with more bytes than `limit`: it is killed then,
    with all that it started, as it is if the caller is cancelled.
    """
    async with started(sandbox, argv, env=env, workdir=cwd, stdin=stdin is not None) as process:
        try:
            return await within(_collected(process, stdin, limit), timeout)
        except PaddockError:
            # One of them is a TimeoutError.
            raise
        except asyncio.TimeoutError:
            raise TimeoutError(f"the command did not end within {timeout} seconds") from None


async def _collected(process, stdin: Optional[bytes], limit: int) -> Ended:
    outputs = {"stdout": bytearray(), "stderr": bytearray()}
    writing = asyncio.ensure_future(_written(process, stdin))
    try:
        async for part in process.output():
            if part.type == "gap":
                raise TooMuchOutput(bytes(outputs["stdout"][:limit]))
            output = outputs[part.type]
            output += part.data
            if len(output) > limit:
                raise TooMuchOutput(bytes(output[:limit]))
        if writing.done():
            writing.result()
        end = await process.wait()
    finally:
        writing.cancel()
    stdout, stderr = bytes(outputs["stdout"]), bytes(outputs["stderr"])
    return Ended(end.exit_code, stdout, stderr, end.reason)


async def _written(process, stdin: Optional[bytes]) -> None:
    """A command need not read its input: its exit code has the reason. Without its whole input it must not go on."""
    if stdin is None:
        return
    try:
        await process.write(stdin, end=True)
    except (NotFoundError, FailedPreconditionError):
        pass
    except PaddockError:
        await process.kill()
        raise


_SCRIPTS = {
    "read": '[ -d "$1" ] && exit 21; [ -e "$1" ] || exit 22; [ -r "$1" ] || exit 23; exec cat -- "$1"',
    "write": '[ -d "$1" ] && exit 21; mkdir -p -- "$(dirname -- "$1")" && exec cat >"$1"',
}
_PROBLEMS = {21: errno.EISDIR, 22: errno.ENOENT}


async def read_file(sandbox: AsyncSandbox, path: str, limit: int, *, owner: bool = False) -> bytes:
    """FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, and TooMuchOutput above `limit` bytes.

    `owner`: without the rules, in the workspace.
    """
    at = posixpath.join(WORKSPACE, path)
    if not in_workspace(at):
        ended = await run(sandbox, ["sh", "-c", _SCRIPTS["read"], "sh", at], limit=limit)
        _refuse(at, ended)
        return ended.stdout
    content = bytearray()
    files = sandbox.files.as_owner() if owner else sandbox.files
    pieces: AsyncGenerator[bytes, None] = files.stream(_relative(at))
    try:
        async for piece in pieces:
            content += piece
            if len(content) > limit:
                raise TooMuchOutput(bytes(content[:limit]))
    except PaddockError as error:
        raise await _problem(sandbox, at, error) from error
    finally:
        await pieces.aclose()
    return bytes(content)


async def write_file(sandbox: AsyncSandbox, path: str, content: bytes, *, owner: bool = False) -> None:
    """Creates or replaces a file, and missing directories above it. Errors as of `read_file`."""
    at = posixpath.join(WORKSPACE, path)
    if in_workspace(at):
        files = sandbox.files.as_owner() if owner else sandbox.files
        try:
            await files.write(_relative(at), content)
        except PaddockError as error:
            raise await _problem(sandbox, at, error) from error
    else:
        _refuse(at, await run(sandbox, ["sh", "-c", _SCRIPTS["write"], "sh", at], stdin=content))


def in_workspace(path: str) -> bool:
    return (posixpath.normpath(path) + "/").startswith(WORKSPACE + "/")


def _relative(path: str) -> str:
    return posixpath.relpath(posixpath.normpath(path), WORKSPACE)


def _refuse(path: str, ended: Ended) -> None:
    if ended.exit_code != 0:
        number = _PROBLEMS.get(ended.exit_code, errno.EACCES)
        raise OSError(number, os.strerror(number), path)


async def _problem(sandbox: AsyncSandbox, path: str, error: PaddockError) -> Exception:
    """The error of Python; the same error if it has another reason than the path."""
    if isinstance(error, PermissionDeniedError):
        number = errno.EACCES
    elif isinstance(error, NotFoundError) and error.resource_type == "file":
        number = errno.ENOENT
    elif isinstance(error, FailedPreconditionError) and (await sandbox.refresh()).status == "running":
        number = await _obstacle(sandbox, path)
    else:
        return error
    return OSError(number, os.strerror(number), path)


async def _obstacle(sandbox: AsyncSandbox, path: str) -> int:
    try:
        found = await sandbox.files.as_owner().stat(_relative(path))
    except (NotFoundError, FailedPreconditionError):
        return errno.ENOTDIR
    # Otherwise a symlink that leads out of the workspace, or a file of another type.
    return errno.EISDIR if found.type == "directory" else errno.EACCES


#: Characters of a command's output that a model gets: the beginning and the end.
_EXCERPT = 1_000_000


class Excerpt:
    """The beginning and the end of a text, and between them how much is missing."""

    def __init__(self) -> None:
        self._head = ""
        self._tail = ""
        self._dropped = 0

    def append(self, text: str) -> None:
        room = _EXCERPT // 2 - len(self._head)
        self._head += text[:room]
        self._tail += text[room:]
        # Cut seldom: each cut copies the rest.
        if len(self._tail) > _EXCERPT:
            self._cut()

    def _cut(self) -> None:
        excess = len(self._tail) - _EXCERPT // 2
        if excess > 0:
            self._dropped += excess
            self._tail = self._tail[excess:]

    def text(self) -> str:
        self._cut()
        gap = f"\n[{self._dropped} characters of output left out]\n" if self._dropped else ""
        return self._head + gap + self._tail
