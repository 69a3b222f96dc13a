# Generated from _async/codebases.py by `npm run generate`; do not edit.
"""Codebases of a server and their files."""

from __future__ import annotations

import contextlib
from typing import Generator, Optional, Unpack

from .._arguments import known_options
from .._http import Content
from .._paths import in_workspace
from .._upload import Source, content_of, without_upload
from ..errors import PaddockError
from ..messages import Codebase, FileInfo, ImportCodebaseFilesResponse, UploadFileResponse
from ..options import ImportOptions, NewCodebaseOptions
from ..requests import CallOptions, ListCodebasesRequest, ListFilesRequest, UploadFileRequest
from .api import Api


@known_options
class Codebases:
    """Stored files that sandboxes start from."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def create(
        self, name: str, from_: Optional[Source] = None, **options: Unpack[NewCodebaseOptions]
    ) -> Codebase:
        """Creates a codebase, which the caller deletes, with the files of `from_`: a local directory or a tar archive.

        `owner_id`: only admins may name another owner.
        """
        content = None if from_ is None else content_of(from_, options)
        codebase = self._api.create_codebase(name=name, **without_upload(options))
        if content is None:
            return codebase
        call: CallOptions = {"timeout": options.get("timeout"), "max_retries": options.get("max_retries")}
        try:
            self._api.import_codebase_files(content, codebase_id=codebase.id, **call)
            return self.get(codebase.id, **call)
        except BaseException:
            with contextlib.suppress(PaddockError):
                self.delete(codebase.id)
            raise

    def get(self, codebase_id: str, **options: Unpack[CallOptions]) -> Codebase:
        """One codebase with its file count and total size. `NotFoundError` if there is none."""
        return self._api.get_codebase(codebase_id=codebase_id, **options)

    def list(self, **options: Unpack[ListCodebasesRequest]) -> Generator[Codebase, None, None]:
        """All codebases that the caller may use, the newest first."""
        return self._api.list_codebases(**options)

    def delete(self, codebase_id: str, **options: Unpack[CallOptions]) -> None:
        """Deletes a codebase. `FailedPreconditionError`, naming them, while sandboxes use it."""
        self._api.delete_codebase(codebase_id=codebase_id, **options)

    def upload(
        self, codebase_id: str, from_: Source, **options: Unpack[ImportOptions]
    ) -> ImportCodebaseFilesResponse:
        """Brings in a local directory or a tar archive, all or nothing, with permission bits, times and symlinks.

        `mode`: "merge" (None), "replace", or "update", which also removes what an empty file ".wh.NAME" of an archive
        names. `if_revision`: only if the codebase has this revision.
        """
        return self._api.import_codebase_files(
            content_of(from_, options), codebase_id=codebase_id, **without_upload(options)
        )

    def download(
        self, codebase_id: str, path: str = "", **options: Unpack[CallOptions]
    ) -> Generator[bytes, None, None]:
        """A codebase, or a directory of it, as a tar archive, as it arrives."""
        found = self._api.export_codebase_files(codebase_id=codebase_id, path=in_workspace(path), **options)
        return found.pieces()

    def files(
        self, codebase_id: str, path: str = "", **options: Unpack[ListFilesRequest]
    ) -> Generator[FileInfo, None, None]:
        """The files and directories of a codebase, in byte order of their paths."""
        return self._api.list_files(codebase_id=codebase_id, path=in_workspace(path), **options)

    def read(self, codebase_id: str, path: str, **options: Unpack[CallOptions]) -> bytes:
        """The contents of a file. `NotFoundError` if there is none."""
        found = self._api.download_file(codebase_id=codebase_id, file_path=in_workspace(path), **options)
        return found.read()

    def write(
        self, codebase_id: str, path: str, content: Content, **options: Unpack[UploadFileRequest]
    ) -> UploadFileResponse:
        """Stores one file, completely or not at all."""
        file_path = in_workspace(path)
        return self._api.upload_file(content, codebase_id=codebase_id, file_path=file_path, **options)

    def remove(self, codebase_id: str, path: str, **options: Unpack[CallOptions]) -> None:
        """Removes one file."""
        self._api.remove_file(codebase_id=codebase_id, file_path=in_workspace(path), **options)
