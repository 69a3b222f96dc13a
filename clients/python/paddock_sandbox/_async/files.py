"""The files of a sandbox object."""

from __future__ import annotations

from typing import Any, AsyncGenerator, Optional
from typing import List as ListOf

from ..errors import NotFoundError
from ..messages import FileStat, ImportFilesResponse
from .workspace import AsyncWorkspaceOperations


class AsyncFiles:
    """The files of a workspace. Paths are relative to /workspace, or begin with it.

    `view`: "agent" (the default): with the rules, as a command of the sandbox, which must run. "owner": all of it, in
    every state.
    """

    def __init__(self, client: AsyncWorkspaceOperations, sandbox_id: str, view: Optional[str] = None) -> None:
        self._client = client
        self._sandbox_id = sandbox_id
        self._view = view

    def as_owner(self) -> AsyncFiles:
        """The same files without the rules."""
        return AsyncFiles(self._client, self._sandbox_id, "owner")

    async def read(self, path: str) -> bytes:
        """The content of a file. `NotFoundError` if there is none, or the rules hide it."""
        return await self._client.read_workspace_file(self._sandbox_id, path, view=self._view)

    async def read_text(self, path: str, encoding: str = "utf-8") -> str:
        """The content of a file as text."""
        return (await self.read(path)).decode(encoding)

    def stream(self, path: str) -> AsyncGenerator[bytes, None]:
        """The content of a file as it arrives, for large ones."""
        return self._client.stream_workspace_file(self._sandbox_id, path, view=self._view)

    async def write(self, path: str, content: Any, *, mode: Optional[int] = None) -> FileStat:
        """Creates or replaces a file, completely or not at all; see `write_workspace_file`."""
        return await self._client.write_workspace_file(
            self._sandbox_id, path, content, mode=mode, view=self._view
        )

    async def list(self, path: str = "", *, recursive: bool = False) -> ListOf[FileStat]:
        """The entries of a directory."""
        return await self._client.list_directory(self._sandbox_id, path, recursive=recursive, view=self._view)

    async def stat(self, path: str = "") -> FileStat:
        """The metadata of a path. A symlink is not followed."""
        return await self._client.stat_file(self._sandbox_id, path, view=self._view)

    async def exists(self, path: str) -> bool:
        """Whether there is something at the path that is not hidden."""
        try:
            await self.stat(path)
        except NotFoundError:
            return False
        return True

    async def remove(self, path: str, *, recursive: bool = False) -> int:
        """Removes a file, symlink or directory. Returns how many; see `delete_file`."""
        return await self._client.delete_file(self._sandbox_id, path, recursive=recursive, view=self._view)

    async def move(self, source: str, target: str, *, replace: bool = False) -> FileStat:
        """Renames a file, directory or symlink."""
        return await self._client.move_file(
            self._sandbox_id, source, target, replace=replace, view=self._view
        )

    async def mkdir(self, path: str, *, parents: bool = True, mode: Optional[int] = None) -> FileStat:
        """Creates a directory; with `parents` those above it, too, and it may exist."""
        return await self._client.make_directory(
            self._sandbox_id, path, parents=parents, mode=mode, view=self._view
        )

    def export_tar(self, path: str = "") -> AsyncGenerator[bytes, None]:
        """A directory as a tar archive, as it arrives."""
        return self._client.export_files(self._sandbox_id, path, view=self._view)

    async def import_tar(self, archive: Any, path: str = "") -> ImportFilesResponse:
        """Unpacks a tar archive into a directory, all or nothing: bytes, an iterator of bytes or a binary file."""
        return await self._client.import_files(self._sandbox_id, archive, path, view=self._view)
