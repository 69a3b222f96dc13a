"""Where files that are uploaded come from."""

from __future__ import annotations

import os
from typing import Optional, Sequence, Union

from ._http import Body, Content
from ._repository import require_own_repository
from ._tree import Selection, archive_of
from .requests import CallOptions, ImportCodebaseFilesRequest

#: A local directory, or a tar archive: bytes, an iterator of bytes, or a file opened in binary mode.
Source = Union[str, "os.PathLike[str]", Content]


class UploadOptions(CallOptions, total=False):
    """What of a local directory is uploaded: by default everything but the hooks of git."""

    #: What to leave out: lines of a .gitignore file, without "!".
    exclude: Optional[Sequence[str]]
    #: Leave out what .gitignore files match.
    gitignore: Optional[bool]
    #: Upload the hooks of git, too, which run outside of the sandbox wherever the repository is used next.
    git_hooks: Optional[bool]


class ImportOptions(UploadOptions, ImportCodebaseFilesRequest, total=False):
    """How files come into a codebase."""


def content_of(source: Source, options: UploadOptions) -> Content:
    """What is sent. `UploadError` before that for a directory that cannot be."""
    if not isinstance(source, (str, os.PathLike)):
        return source
    directory = os.fspath(source)
    exclude = tuple(options.get("exclude") or ())
    selection = Selection(exclude, bool(options.get("gitignore")), bool(options.get("git_hooks")))
    require_own_repository(directory, selection)
    return Body(lambda: archive_of(directory, selection))


def without_upload(options: UploadOptions) -> CallOptions:
    """The options of the call."""
    return {"timeout": options.get("timeout"), "max_retries": options.get("max_retries")}
