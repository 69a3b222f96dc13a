"""The files of a sandbox."""

from __future__ import annotations

from typing import AsyncGenerator, Optional, TypedDict, Unpack

from .._arguments import known_options
from .._http import Content
from .._paths import in_workspace
from .._upload import Source, content_of, without_upload
from ..errors import NotFoundError
from ..messages import FileStat, ImportFilesResponse
from ..options import UploadOptions
from ..requests import CallOptions
from .api import AsyncApi


@known_options
class AsyncFiles:
    """The files of a workspace, with the rules, as a command of the sandbox, which must run.

    Paths are relative to /workspace, or begin with it. `as_owner` has all files, in every state.
    """

    def __init__(self, api: AsyncApi, sandbox_id: str, as_: Optional[str] = None) -> None:
        self._api = api
        self._of: _Of = {"sandbox_id": sandbox_id, "as_": as_}

    def as_owner(self) -> AsyncFiles:
        """The same files without the rules."""
        return AsyncFiles(self._api, self._of["sandbox_id"], "owner")

    async def read(self, path: str, **options: Unpack[CallOptions]) -> bytes:
        """The content of a file. `NotFoundError` if there is none, or the rules hide it."""
        return await self._api.read_file(**self._of, path=in_workspace(path), **options).read()

    async def read_text(self, path: str, encoding: str = "utf-8", **options: Unpack[CallOptions]) -> str:
        """The content of a file as text."""
        return (await self.read(path, **options)).decode(encoding)

    def stream(self, path: str, **options: Unpack[CallOptions]) -> AsyncGenerator[bytes, None]:
        """The content of a file as it arrives, for large ones."""
        return self._api.read_file(**self._of, path=in_workspace(path), **options).pieces()

    async def write(
        self, path: str, content: Content, *, mode: Optional[int] = None, **options: Unpack[CallOptions]
    ) -> FileStat:
        """Creates or replaces a file, completely or not at all; creates missing directories above it.

        `content`: text (UTF-8), bytes, an iterator of bytes or a binary file; of the last two nothing is repeated.
        `mode`: permission bits, for example 0o755; None: those of the file that is replaced, or 0o644.
        """
        return await self._api.write_file(content, **self._of, path=in_workspace(path), mode=mode, **options)

    def list(
        self, path: str = "", *, recursive: bool = False, **options: Unpack[CallOptions]
    ) -> AsyncGenerator[FileStat, None]:
        """The entries of a directory in byte order of their paths; with `recursive` everything below it."""
        return self._api.list_directory(**self._of, path=in_workspace(path), recursive=recursive or None, **options)

    async def stat(self, path: str = "", **options: Unpack[CallOptions]) -> FileStat:
        """The metadata of a path. A symlink is not followed."""
        return await self._api.stat_file(**self._of, path=in_workspace(path), **options)

    async def exists(self, path: str, **options: Unpack[CallOptions]) -> bool:
        """Whether there is something at the path that is not hidden."""
        try:
            await self.stat(path, **options)
        except NotFoundError as error:
            if error.resource_type == "sandbox":
                raise
            return False
        return True

    async def remove(self, path: str, *, recursive: bool = False, **options: Unpack[CallOptions]) -> int:
        """Removes a file, symlink or empty directory; with `recursive` a directory with everything in it.

        Returns how many; 0 if an attempt whose answer was lost has removed it.
        """
        answer = await self._api.delete_file(
            **self._of, path=in_workspace(path), recursive=recursive or None, **options
        )
        return answer.removed

    async def move(
        self, source: str, target: str, *, replace: bool = False, **options: Unpack[CallOptions]
    ) -> FileStat:
        """Renames a file, directory or symlink. `replace`: a file, or an empty directory, at the new path."""
        return await self._api.move_file(
            **self._of, from_=in_workspace(source), to=in_workspace(target), replace=replace, **options
        )

    async def mkdir(
        self, path: str, *, parents: bool = True, mode: Optional[int] = None, **options: Unpack[CallOptions]
    ) -> FileStat:
        """Creates a directory; with `parents` those above it, too, and it may exist."""
        return await self._api.make_directory(
            **self._of, path=in_workspace(path), parents=parents, mode=mode, **options
        )

    async def upload(self, from_: Source, path: str = "", **options: Unpack[UploadOptions]) -> ImportFilesResponse:
        """Copies a local directory, or unpacks a tar archive, into a directory: all or nothing."""
        return await self._api.import_files(
            content_of(from_, options), **self._of, path=in_workspace(path), **without_upload(options)
        )

    def download(self, path: str = "", **options: Unpack[CallOptions]) -> AsyncGenerator[bytes, None]:
        """A directory as a tar archive, whose names start there, as it arrives."""
        return self._api.export_files(**self._of, path=in_workspace(path), **options).pieces()


class _Of(TypedDict):
    sandbox_id: str
    as_: Optional[str]
