"""Commands with a limit of output, and files anywhere in a sandbox, with the errors of Python."""

from __future__ import annotations

import asyncio
import errno
import os
import posixpath
from dataclasses import dataclass
from typing import AsyncGenerator, Mapping, Optional, Sequence, Union

from anyio import CancelScope
from paddock_sandbox import (
    AsyncSandbox,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    SandboxError,
)
from paddock_sandbox.messages import OutputStream

WORKSPACE = "/workspace"


class TooMuchOutput(Exception):
    """Of one stream. The command was killed."""

    def __init__(self, beginning: bytes) -> None:
        super().__init__("too much output")
        self.beginning = beginning


@dataclass
class Ended:
    exit_code: int
    stdout: bytes
    stderr: bytes


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
    # A process that was started is always deleted, also if the caller is cancelled meanwhile.
    with CancelScope(shield=True):
        process = await sandbox.start_process(argv, env=env, workdir=cwd, stdin=stdin is not None)
    try:
        return await asyncio.wait_for(_collected(process, stdin, limit), timeout)
    except asyncio.TimeoutError:
        raise TimeoutError(f"the command did not end within {timeout} seconds") from None
    finally:
        with CancelScope(shield=True):
            await process.delete()


async def _collected(process, stdin: Optional[bytes], limit: int) -> Ended:
    outputs = {OutputStream.STDOUT: bytearray(), OutputStream.STDERR: bytearray()}
    writing = asyncio.ensure_future(_written(process, stdin))
    try:
        async for event in process.events(0):
            if event.gap:
                raise TooMuchOutput(bytes(outputs[OutputStream.STDOUT][:limit]))
            if event.data:
                output = outputs[event.stream]
                output += event.data
                if len(output) > limit:
                    raise TooMuchOutput(bytes(output[:limit]))
        if writing.done():
            writing.result()
        end = await process.wait()
    finally:
        writing.cancel()
    return Ended(end.exit_code, bytes(outputs[OutputStream.STDOUT]), bytes(outputs[OutputStream.STDERR]))


async def _written(process, stdin: Optional[bytes]) -> None:
    """A command need not read its input: its exit code has the reason. Without its whole input it must not go on."""
    if stdin is None:
        return
    try:
        await process.write(stdin, end=True)
    except (NotFoundError, PreconditionError):
        pass
    except SandboxError:
        await process.kill()
        raise


_SCRIPTS = {
    "read": '[ -d "$1" ] && exit 21; [ -e "$1" ] || exit 22; [ -r "$1" ] || exit 23; exec cat -- "$1"',
    "write": '[ -d "$1" ] && exit 21; mkdir -p -- "$(dirname -- "$1")" && exec cat >"$1"',
}
_PROBLEMS = {21: errno.EISDIR, 22: errno.ENOENT}


async def read_file(sandbox: AsyncSandbox, path: str, limit: int) -> bytes:
    """FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, and TooMuchOutput with more bytes than `limit`."""
    at = posixpath.join(WORKSPACE, path)
    if not _in_workspace(at):
        ended = await run(sandbox, ["sh", "-c", _SCRIPTS["read"], "sh", at], limit=limit)
        _refuse(at, ended)
        return ended.stdout
    content = bytearray()
    pieces: AsyncGenerator[bytes, None] = sandbox.files.stream(_relative(at))
    try:
        async for piece in pieces:
            content += piece
            if len(content) > limit:
                raise TooMuchOutput(b"")
    except SandboxError as error:
        raise await _problem(sandbox, at, error) from error
    finally:
        await pieces.aclose()
    return bytes(content)


async def write_file(sandbox: AsyncSandbox, path: str, content: bytes) -> None:
    """Creates or replaces a file, and missing directories above it. Errors as of `read_file`."""
    at = posixpath.join(WORKSPACE, path)
    if _in_workspace(at):
        try:
            await sandbox.files.write(_relative(at), content)
        except SandboxError as error:
            raise await _problem(sandbox, at, error) from error
    else:
        _refuse(at, await run(sandbox, ["sh", "-c", _SCRIPTS["write"], "sh", at], stdin=content))


def _in_workspace(path: str) -> bool:
    return (posixpath.normpath(path) + "/").startswith(WORKSPACE + "/")


def _relative(path: str) -> str:
    return posixpath.relpath(posixpath.normpath(path), WORKSPACE)


def _refuse(path: str, ended: Ended) -> None:
    if ended.exit_code != 0:
        number = _PROBLEMS.get(ended.exit_code, errno.EACCES)
        raise OSError(number, os.strerror(number), path)


async def _problem(sandbox: AsyncSandbox, path: str, error: SandboxError) -> Exception:
    """The error of Python; the same error if it has another reason than the path. Of a path it begins with it in quotes."""
    if isinstance(error, PermissionDeniedError):
        number = errno.EACCES
    elif isinstance(error, NotFoundError) and error.resource == "file":
        number = errno.ENOENT
    elif not isinstance(error, PreconditionError) or not error.message.startswith('"'):
        return error
    elif "\" is a directory" in error.message:
        number = errno.EISDIR
    elif "\" is not a directory" in error.message:
        number = errno.ENOTDIR
    else:
        # A symlink that leads out of the workspace, or a file of another type.
        number = errno.EACCES
    return OSError(number, os.strerror(number), path)
