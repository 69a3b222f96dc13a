"""Where files that are uploaded come from."""

from __future__ import annotations

import os
from typing import Any, Dict, Mapping, Union

from ._http import Body, Content, body_of
from ._repository import require_own_repository
from ._tree import Selection, archive_of
from .options import UploadOptions
from .requests import CallOptions

#: A local directory, or a tar archive: bytes, an iterator of bytes, or a file opened in binary mode.
Source = Union[str, "os.PathLike[str]", Content]


def content_of(source: Source, options: UploadOptions) -> Content:
    """What is sent. `InvalidArgumentError` before that for a directory that cannot be."""
    if not isinstance(source, (str, os.PathLike)):
        return body_of(source, "from_ must be the path of a directory")
    directory = os.fspath(source)
    exclude = tuple(options.get("exclude") or ())
    selection = Selection(exclude, bool(options.get("gitignore")), bool(options.get("git_hooks")))
    require_own_repository(directory, selection)
    return Body(lambda: archive_of(directory, selection))


def without_upload(options: Mapping[str, Any]) -> Dict[str, Any]:
    """What is no option of an upload: fields of the request, and options of the call."""
    return {name: value for name, value in options.items() if name not in _OWN}


_OWN = frozenset(UploadOptions.__annotations__) - frozenset(CallOptions.__annotations__)
