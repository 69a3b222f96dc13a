"""Operations on the files of a sandbox's workspace, without a command."""

from __future__ import annotations

from typing import Any, AsyncGenerator, Dict, List, Optional

from .._http import body_of
from .._paths import in_workspace
from ..messages import DeleteFileResponse, FileStat, ImportFilesResponse, PreviewFileResponse
from .changes import AsyncChangeOperations


class AsyncWorkspaceOperations(AsyncChangeOperations):
    """Operations on the files of a workspace.

    Paths are relative to /workspace; those that begin with it are taken as in the sandbox. `view`: "agent" (None): as a
    command of the sandbox, which must run; "owner": everything, in every state.
    """

    async def stat_file(self, sandbox_id: str, path: str = "", *, view: Optional[str] = None) -> FileStat:
        """The metadata of a path. A symlink is not followed. `NotFoundError` if there is nothing."""
        return await self._message(FileStat, "StatFile", _file(sandbox_id, path, view))

    async def preview_file(self, sandbox_id: str, path: str) -> PreviewFileResponse:
        """What commands see of a file with placeholders, and the keys whose values they do not see."""
        return await self._message(PreviewFileResponse, "PreviewFile", {"sandbox_id": sandbox_id, "path": path})

    async def list_directory(
        self, sandbox_id: str, path: str = "", *, recursive: bool = False, view: Optional[str] = None
    ) -> List[FileStat]:
        """The entries of a directory in byte order of their paths; with `recursive` everything below it."""
        fields = {**_file(sandbox_id, path, view), "recursive": recursive or None}
        return await self._all(FileStat, "ListDirectory", "files", fields)

    async def read_workspace_file(self, sandbox_id: str, path: str, *, view: Optional[str] = None) -> bytes:
        """The contents of one version of a file."""
        return await self._whole("ReadFile", _file(sandbox_id, path, view))

    def stream_workspace_file(
        self, sandbox_id: str, path: str, *, view: Optional[str] = None
    ) -> AsyncGenerator[bytes, None]:
        """The contents of one version of a file as they arrive."""
        return self._pieces("ReadFile", _file(sandbox_id, path, view))

    async def write_workspace_file(
        self,
        sandbox_id: str,
        path: str,
        content: Any,
        *,
        mode: Optional[int] = None,
        view: Optional[str] = None,
    ) -> FileStat:
        """Creates or replaces a file, completely or not at all; creates missing directories above it.

        `content`: text (UTF-8), bytes, an iterator of bytes or a binary file; of the last two nothing is repeated.
        `mode`: permission bits, for example 0o755; None: those of the file that is replaced, or 0o644.
        """
        fields = {**_file(sandbox_id, path, view), "mode": None if mode is None else f"{mode:o}"}
        return await self._message(FileStat, "WriteFile", fields, body=body_of(content))

    async def make_directory(
        self,
        sandbox_id: str,
        path: str,
        *,
        parents: bool = True,
        mode: Optional[int] = None,
        view: Optional[str] = None,
    ) -> FileStat:
        """Creates a directory; with `parents` those above it, too, and it may exist."""
        fields = {**_file(sandbox_id, path, view), "parents": parents, "mode": mode}
        return await self._message(FileStat, "MakeDirectory", fields)

    async def move_file(
        self, sandbox_id: str, source: str, target: str, *, replace: bool = False, view: Optional[str] = None
    ) -> FileStat:
        """Renames a file, directory or symlink. `replace`: a file, or an empty directory, at the new path."""
        fields = {
            "sandbox_id": sandbox_id,
            "as": view,
            "from": in_workspace(source),
            "to": in_workspace(target),
            "replace": replace,
        }
        return await self._message(FileStat, "MoveFile", fields)

    async def delete_file(
        self, sandbox_id: str, path: str, *, recursive: bool = False, view: Optional[str] = None
    ) -> int:
        """Removes a file, symlink or empty directory; with `recursive` a directory with everything in it.

        Returns how many; 0 if an attempt whose answer was lost has removed it.
        """
        fields = {**_file(sandbox_id, path, view), "recursive": recursive or None}
        return (await self._message(DeleteFileResponse, "DeleteFile", fields)).removed

    def export_files(
        self, sandbox_id: str, path: str = "", *, view: Optional[str] = None
    ) -> AsyncGenerator[bytes, None]:
        """A directory as a tar archive, whose names start there."""
        return self._pieces("ExportFiles", {**_file(sandbox_id, path, view), "format": "tar"})

    async def import_files(
        self, sandbox_id: str, archive: Any, path: str = "", *, view: Optional[str] = None
    ) -> ImportFilesResponse:
        """Unpacks a tar archive into a directory, all or nothing. `archive`: as `content` of a file."""
        fields = {**_file(sandbox_id, path, view), "format": "tar"}
        return await self._message(ImportFilesResponse, "ImportFiles", fields, body=body_of(archive))


def _file(sandbox_id: str, path: str, view: Optional[str]) -> Dict[str, Any]:
    return {"sandbox_id": sandbox_id, "path": in_workspace(path), "as": view}
