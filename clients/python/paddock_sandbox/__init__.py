"""Sandboxes for AI agents: a client of the service paddock.

>>> from paddock_sandbox import Sandbox
>>> with Sandbox.create("./project") as sandbox:
...     result = sandbox.run("python3 main.py")
...     print(result.stdout, sandbox.patch())

`Sandbox` is the comfortable way; `Paddock` is a server, and its `api` has a method for each operation of the service.
`AsyncSandbox` and `AsyncPaddock` are the same for asyncio. The address and the key come from PADDOCK_URL and
PADDOCK_KEY.
"""

from __future__ import annotations

from ._async.paddock import AsyncPaddock
from ._async.process import AsyncProcess
from ._async.sandbox import AsyncSandbox
from ._async.session import AsyncSession
from ._hunks import chosen_hunks
from ._opened import Opened
from ._output import CommandEvent, ProcessOutput
from ._pulled import Pulled, PullOptions
from ._sync.paddock import Paddock
from ._sync.process import Process
from ._sync.sandbox import Sandbox
from ._sync.session import Session
from ._version import __version__
from .errors import (
    AlreadyExistsError,
    CancelledError,
    CommandError,
    CommandTimeoutError,
    ConflictError,
    ConnectionFailedError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    PaddockError,
    PermissionDeniedError,
    RateLimitError,
    RequestTimeoutError,
    ResourceExhaustedError,
    ServerError,
    UnauthenticatedError,
    UnavailableError,
)
from .messages import (
    ChangeKind,
    ChosenHunks,
    Codebase,
    FileChange,
    FileInfo,
    FileStat,
    FileType,
    NetworkPolicy,
    NetworkRule,
    OwnerLimits,
    PatternType,
    Permission,
    PermissionRule,
    ProcessEnd,
    ResourceLimits,
    Runtime,
    SandboxStatus,
    SecretBinding,
    SessionStatus,
    TerminalSize,
)
from .options import ClientOptions, SandboxOptions, UploadOptions
from .result import CommandResult

__all__ = [
    "AlreadyExistsError",
    "AsyncPaddock",
    "AsyncProcess",
    "AsyncSandbox",
    "AsyncSession",
    "CancelledError",
    "ChangeKind",
    "ChosenHunks",
    "ClientOptions",
    "Codebase",
    "CommandError",
    "CommandEvent",
    "CommandResult",
    "CommandTimeoutError",
    "ConflictError",
    "ConnectionFailedError",
    "FailedPreconditionError",
    "FileChange",
    "FileInfo",
    "FileStat",
    "FileType",
    "InvalidArgumentError",
    "NetworkPolicy",
    "NetworkRule",
    "NotFoundError",
    "Opened",
    "OwnerLimits",
    "Paddock",
    "PaddockError",
    "PatternType",
    "Permission",
    "PermissionDeniedError",
    "PermissionRule",
    "Process",
    "ProcessEnd",
    "ProcessOutput",
    "PullOptions",
    "Pulled",
    "RateLimitError",
    "RequestTimeoutError",
    "ResourceExhaustedError",
    "ResourceLimits",
    "Runtime",
    "Sandbox",
    "SandboxOptions",
    "SandboxStatus",
    "SecretBinding",
    "ServerError",
    "Session",
    "SessionStatus",
    "TerminalSize",
    "UnauthenticatedError",
    "UnavailableError",
    "UploadOptions",
    "__version__",
    "chosen_hunks",
]
