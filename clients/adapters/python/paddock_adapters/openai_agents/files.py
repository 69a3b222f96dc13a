"""The files of a session.

What the model does obeys the rules of the sandbox. What the application does by manifests and archives is done as the
owner of the sandbox. What is not here is done by commands, as the SDK does it.
"""

from __future__ import annotations

import abc
import asyncio
import io
import stat
import tarfile
import tempfile
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, AsyncIterator, Iterator, List, Sequence, Tuple, Union, cast

from agents.sandbox import ExecResult, Permissions, User
from agents.sandbox.entries import BaseEntry
from agents.sandbox.errors import WorkspaceWriteTypeError
from agents.sandbox.files import EntryKind, FileEntry
from agents.sandbox.materialization import MaterializationResult, MaterializedFile
from agents.sandbox.session import BaseSandboxSession
from agents.sandbox.util.tar_utils import should_skip_tar_member
from agents.sandbox.workspace_paths import sandbox_path_str
from paddock_sandbox import AsyncSandbox, FileStat, NotFoundError, PaddockError

from ..shared import TooMuchOutput, in_workspace, read_file, write_file
from .errors import read_error, write_error
from .state import ROOT, assert_supported, refuse_user

#: Bytes of a file that is read at once.
_READ_LIMIT = 256 * 1024 * 1024

_owner: ContextVar[bool] = ContextVar("paddock_owner", default=False)


@contextmanager
def _as_owner() -> Iterator[None]:
    token = _owner.set(True)
    try:
        yield
    finally:
        _owner.reset(token)


class SandboxFiles(BaseSandboxSession):
    @property
    @abc.abstractmethod
    def sandbox(self) -> AsyncSandbox: ...

    async def read(self, path: Union[Path, str], *, user: Union[str, User, None] = None) -> io.IOBase:
        refuse_user(user)
        at = await self._validate_path_access(path)
        try:
            return io.BytesIO(await read_file(self.sandbox, sandbox_path_str(at), _READ_LIMIT, owner=_owner.get()))
        except TooMuchOutput as error:
            raise read_error(at, OSError(f"more than {_READ_LIMIT} bytes")) from error
        except (OSError, PaddockError) as error:
            raise read_error(at, error) from error

    async def _read_bounded(self, path: Path, *, max_bytes: int) -> bytes:
        at = await self._validate_path_access(path)
        try:
            return await read_file(self.sandbox, sandbox_path_str(at), max_bytes, owner=_owner.get())
        except TooMuchOutput as error:
            if len(error.beginning) < max_bytes:
                raise read_error(at, error) from error
            return error.beginning
        except (OSError, PaddockError) as error:
            raise read_error(at, error) from error

    async def write(self, path: Union[Path, str], data: io.IOBase, *, user: Union[str, User, None] = None) -> None:
        refuse_user(user)
        content: Any = cast(IO[Any], data).read()
        if isinstance(content, str):
            content = content.encode()
        if not isinstance(content, (bytes, bytearray, memoryview)):
            raise WorkspaceWriteTypeError(path=Path(path), actual_type=type(content).__name__)
        at = await self._validate_path_access(path, for_write=True)
        try:
            await write_file(self.sandbox, sandbox_path_str(at), bytes(content), owner=_owner.get())
        except (OSError, PaddockError) as error:
            raise write_error(at, error) from error

    async def _write_new_file(
        self, path: Union[Path, str], data: io.IOBase, *, user: Union[str, User, None] = None
    ) -> None:
        at = await self._validate_path_access(path, for_write=True)
        if in_workspace(sandbox_path_str(at)):
            try:
                if await self.sandbox.files.exists(sandbox_path_str(at)):
                    raise FileExistsError(f"{at} exists")
            except PaddockError as error:
                raise write_error(at, error) from error
        await self.write(at, data, user=user)

    async def ls(self, path: Union[Path, str], *, user: Union[str, User, None] = None) -> List[FileEntry]:
        refuse_user(user)
        at = sandbox_path_str(await self._validate_path_access(path))
        files = self.sandbox.files.as_owner() if _owner.get() else self.sandbox.files
        if in_workspace(at):
            # The command's answer names nothing that has a line break, and has the error of what is no directory.
            with suppress(PaddockError):
                return [_entry(each) async for each in files.list(at)]
        return await super().ls(at)

    async def mkdir(
        self, path: Union[Path, str], *, parents: bool = False, user: Union[str, User, None] = None
    ) -> None:
        if not _owner.get():
            return await super().mkdir(path, parents=parents, user=user)
        at = await self._validate_path_access(path, for_write=True)
        if sandbox_path_str(at) == ROOT:
            return
        try:
            await self.sandbox.files.as_owner().mkdir(sandbox_path_str(at), parents=parents)
        except PaddockError as error:
            raise write_error(at, error) from error

    async def rm(
        self, path: Union[Path, str], *, recursive: bool = False, user: Union[str, User, None] = None
    ) -> None:
        if not _owner.get():
            return await super().rm(path, recursive=recursive, user=user)
        at = await self._validate_path_access(path, for_write=True)
        try:
            await self.sandbox.files.as_owner().remove(sandbox_path_str(at), recursive=recursive)
        except NotFoundError as error:
            if not recursive:
                raise write_error(at, error) from error
        except PaddockError as error:
            raise write_error(at, error) from error

    async def _exec_checked_nonzero(self, *command: Union[str, Path]) -> ExecResult:
        # The mode of an entry of a manifest, which a command could not change in spite of the rules.
        if _owner.get() and len(command) == 3 and command[0] == "chmod":
            at = sandbox_path_str(Path(command[2]))
            try:
                await self._set_mode(at, int(str(command[1]), 8))
            except PaddockError as error:
                raise write_error(Path(at), error) from error
            return ExecResult(stdout=b"", stderr=b"", exit_code=0)
        return await super()._exec_checked_nonzero(*command)

    async def _set_mode(self, at: str, mode: int) -> None:
        """Of a file; directories keep the mode that they were made with."""
        files = self.sandbox.files.as_owner()
        found = await files.stat(at)
        if found.type == "file" and found.mode & 0o777 != mode:
            with tempfile.TemporaryFile() as copy:
                await _spooled(files.stream(at), copy)
                await files.write(at, copy, mode=mode)

    async def _apply_manifest(
        self, *, only_ephemeral: bool = False, provision_accounts: bool = True
    ) -> MaterializationResult:
        assert_supported(self.state.manifest)
        with _as_owner():
            return await super()._apply_manifest(only_ephemeral=only_ephemeral, provision_accounts=provision_accounts)

    async def _apply_entry_batch(
        self, entries: Sequence[Tuple[Path, BaseEntry]], *, base_dir: Path
    ) -> List[MaterializedFile]:
        with _as_owner():
            return await super()._apply_entry_batch(entries, base_dir=base_dir)

    async def persist_workspace(self) -> io.IOBase:
        """A tar archive of the workspace, with what the rules hide, without ephemeral entries."""
        archive = tempfile.TemporaryFile()
        try:
            await _spooled(self.sandbox.files.as_owner().download(), archive)
            skipped = self._persist_workspace_skip_relpaths()
            if skipped:
                archive = await asyncio.to_thread(_without, archive, skipped)
        except BaseException as error:
            archive.close()
            if isinstance(error, (OSError, PaddockError, tarfile.TarError)):
                raise read_error(Path(ROOT), error) from error
            raise
        return cast(io.IOBase, archive)

    async def hydrate_workspace(self, data: io.IOBase) -> None:
        """All or nothing. The service refuses paths and symlinks that lead out of the workspace."""
        try:
            await self.sandbox.files.as_owner().upload(data)
        except (OSError, PaddockError) as error:
            raise write_error(Path(ROOT), error) from error

    async def _restore_snapshot_into_workspace_on_resume(self) -> None:
        with _as_owner():
            await super()._restore_snapshot_into_workspace_on_resume()

    def _should_compute_snapshot_fingerprint_on_persist(self) -> bool:
        # A command of the sandbox would compute it, from what the rules do not hide.
        return False


_KINDS = {
    "file": EntryKind.FILE,
    "directory": EntryKind.DIRECTORY,
    "symlink": EntryKind.SYMLINK,
}


def _entry(found: FileStat) -> FileEntry:
    directory = stat.S_IFDIR if found.type == "directory" else 0
    return FileEntry(
        path=f"{ROOT}/{found.path}",
        permissions=Permissions.from_mode(found.mode | directory),
        owner="",
        group="",
        size=found.size,
        kind=_KINDS.get(found.type, EntryKind.OTHER),
    )


async def _spooled(pieces: AsyncIterator[bytes], file: IO[bytes]) -> None:
    async for piece in pieces:
        file.write(piece)
    file.seek(0)


def _without(archive: IO[bytes], skipped: Sequence[Path]) -> IO[bytes]:
    """A copy of an archive without some paths, which are closed and given back."""
    rest = tempfile.TemporaryFile()
    with archive, tarfile.open(fileobj=archive) as source, tarfile.open(fileobj=rest, mode="w") as target:
        for member in source:
            if not should_skip_tar_member(member.name, skip_rel_paths=skipped, root_name=None):
                target.addfile(member, source.extractfile(member) if member.isreg() else None)
    rest.seek(0)
    return rest
