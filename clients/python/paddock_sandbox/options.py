"""Options of a client, of what is uploaded, and of new sandboxes."""

from __future__ import annotations

import ssl
from typing import Optional, Sequence, TypedDict

from ._duration import Duration
from .requests import CallOptions, CreateCodebaseRequest, CreateSandboxRequest, ImportCodebaseFilesRequest


class ClientOptions(TypedDict, total=False):
    """Where the service is, and how its operations are called."""

    #: Address of the service; default: PADDOCK_URL, or http://127.0.0.1:8080.
    url: Optional[str]
    #: API key; default: none, or PADDOCK_KEY if the address is that of PADDOCK_URL: no other host gets it.
    key: Optional[str]
    #: File with the certificates that the service's may be signed by; default: the system's.
    ca_file: Optional[str]
    #: Context of https connections instead, for example with a client certificate.
    tls: Optional[ssl.SSLContext]
    #: Time without any byte of an answer after which a call fails with `RequestTimeoutError`; default: 5 minutes.
    timeout: Duration
    #: Time until a connection is made; default: 10 seconds.
    connect_timeout: Duration
    #: Repetitions of a call at most; 0: none. Default: 3.
    max_retries: int


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


class NewCodebaseOptions(CreateCodebaseRequest, UploadOptions, total=False):
    """What a new codebase has."""


class SandboxOptions(CreateSandboxRequest, UploadOptions, total=False):
    """What a new sandbox has, and what of a local directory is uploaded for it.

    `preset`: rules by name: "agent-safe", "development", "read-only" or "full-access"; "none": only those of `rules` or
    `permissions`. None: "development", or "agent-safe" with rules. `rules`: in a short form, in addition to those of
    the preset: `{"write": ["src"], "none": ["**/.env*"]}`.
    """

    #: Name of the new codebase; None: that of the directory.
    name: Optional[str]
    #: Owner of the new codebase; only admins may name another than the key's own.
    owner_id: Optional[str]
    #: Keep the new codebase when the sandbox is destroyed.
    keep_codebase: Optional[bool]
