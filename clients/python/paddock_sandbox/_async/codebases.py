"""Operations on codebases and their files."""

from __future__ import annotations

import os
from typing import Any, AsyncGenerator, List, Optional, Sequence, Union

from .._http import Body, body_of
from .._paths import in_workspace
from .._repository import require_own_repository
from .._tree import Selection, archive_of
from ..messages import Codebase, FileInfo, ImportCodebaseFilesResponse, UploadFileResponse
from .workspace import AsyncWorkspaceOperations


class AsyncCodebaseOperations(AsyncWorkspaceOperations):
    """Operations on codebases: stored files that sandboxes start from."""

    async def create_codebase(
        self, name: str, owner_id: Optional[str] = None, *, idempotency_key: Optional[str] = None
    ) -> Codebase:
        """Creates an empty codebase; the caller deletes it. `owner_id`: only admins may name another owner."""
        fields = {"name": name, "owner_id": owner_id}
        return await self._message(Codebase, "CreateCodebase", fields, key=idempotency_key)

    async def get_codebase(self, codebase_id: str) -> Codebase:
        """One codebase with its file count and total size. `NotFoundError` if there is none."""
        return await self._message(Codebase, "GetCodebase", {"codebase_id": codebase_id})

    async def list_codebases(self, owner_id: Optional[str] = None) -> List[Codebase]:
        """All codebases that the caller may use, the newest first."""
        return await self._all(Codebase, "ListCodebases", "codebases", {"owner_id": owner_id})

    async def delete_codebase(self, codebase_id: str) -> None:
        """Deletes a codebase. `FailedPreconditionError`, naming them, while sandboxes use it."""
        await self._call("DeleteCodebase", {"codebase_id": codebase_id})

    async def upload_file(
        self, codebase_id: str, file_path: str, content: Any, *, mode: Optional[int] = None
    ) -> UploadFileResponse:
        """Stores one file, completely or not at all. `content`: text, bytes, an iterator of bytes or a binary file."""
        fields = {
            "codebase_id": codebase_id,
            "file_path": in_workspace(file_path),
            "mode": None if mode is None else f"{mode:o}",
        }
        return await self._message(UploadFileResponse, "UploadFilePut", fields, body=body_of(content))

    async def download_file(self, codebase_id: str, file_path: str) -> bytes:
        """The contents of a file. `NotFoundError` if there is none."""
        fields = {"codebase_id": codebase_id, "file_path": in_workspace(file_path)}
        return await self._whole("DownloadFile", fields)

    def stream_file(self, codebase_id: str, file_path: str) -> AsyncGenerator[bytes, None]:
        """The contents of a file as they arrive."""
        fields = {"codebase_id": codebase_id, "file_path": in_workspace(file_path)}
        return self._pieces("DownloadFile", fields)

    async def list_files(self, codebase_id: str, path: str = "", recursive: bool = False) -> List[FileInfo]:
        """The files and directories of a codebase, in byte order of their paths."""
        fields = {"codebase_id": codebase_id, "path": in_workspace(path), "recursive": recursive or None}
        return await self._all(FileInfo, "ListFiles", "files", fields)

    async def remove_file(self, codebase_id: str, file_path: str) -> None:
        """Removes one file."""
        await self._call("RemoveFile", {"codebase_id": codebase_id, "file_path": in_workspace(file_path)})

    async def import_codebase(
        self, codebase_id: str, archive: Any, mode: Optional[str] = None, *, if_revision: Optional[str] = None
    ) -> ImportCodebaseFilesResponse:
        """Unpacks a tar archive into a codebase, all or nothing. `mode`: "merge" (None), "replace", or "update", which
        also removes what an empty file ".wh.NAME" names. `if_revision`: only if the codebase has this revision.
        """
        fields = {"codebase_id": codebase_id, "mode": mode, "format": "tar", "if_revision": if_revision}
        return await self._message(
            ImportCodebaseFilesResponse, "ImportCodebaseFiles", fields, body=body_of(archive)
        )

    def export_codebase(self, codebase_id: str, path: str = "") -> AsyncGenerator[bytes, None]:
        """A codebase, or a directory of it, as a tar archive."""
        fields = {"codebase_id": codebase_id, "path": in_workspace(path), "format": "tar"}
        return self._pieces("ExportCodebaseFiles", fields)

    async def upload_directory(
        self,
        codebase_id: str,
        directory: Union[str, "os.PathLike[str]"],
        *,
        ignore_patterns: Optional[Sequence[str]] = None,
        gitignore: bool = False,
        git: bool = True,
        hooks: bool = False,
        mode: str = "replace",
    ) -> ImportCodebaseFilesResponse:
        """Uploads a local directory as one archive, all or nothing. Permission bits, times and symlinks are kept.

        `ignore_patterns`: patterns of what to leave out, in the form of a line of .gitignore, without "!". `gitignore`:
        leave out what git ignores; git itself is asked, so the directory must be in a repository (`UploadError`).
        `git`: with the directories `.git`; their hooks are sent only with `hooks`, because hooks run outside of the
        sandbox wherever the repository is used next. `mode`: "replace" or "merge".
        """
        selection = Selection(tuple(ignore_patterns or ()), gitignore, git, hooks)
        require_own_repository(os.fspath(directory), selection)
        body = Body(lambda: archive_of(os.fspath(directory), selection))
        return await self.import_codebase(codebase_id, body, mode)
