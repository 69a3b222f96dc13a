"""Sandboxes for AI agents: a client of the service paddock.

>>> from paddock_sandbox import Sandbox
>>> with Sandbox.from_local("./project", preset="development") as sandbox:
...     result = sandbox.run("python3 main.py")
...     print(result.stdout, sandbox.patch())

`Sandbox` and `AsyncSandbox` are the comfortable way; `SandboxClient` and `AsyncSandboxClient` have a method for each
operation of the service. The address and the key come from PADDOCK_URL and PADDOCK_KEY.
"""

from __future__ import annotations

from ._async.client import AsyncSandboxClient
from ._async.process import AsyncProcessHandle
from ._async.sandbox import AsyncSandbox
from ._async.session import AsyncSessionWrapper
from ._hunks import chosen_hunks
from ._pull import PullResult
from ._sync.client import SandboxClient
from ._sync.process import ProcessHandle
from ._sync.sandbox import Sandbox
from ._sync.session import SessionWrapper
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
    NotConnectedError,
    NotFoundError,
    PaddockError,
    PermissionDeniedError,
    RateLimitError,
    RequestTimeoutError,
    ResourceExhaustedError,
    ServerError,
    UnauthenticatedError,
    UnavailableError,
    UploadError,
)
from .messages import (
    ChangeKind,
    ChosenHunks,
    Codebase,
    FileChange,
    FileInfo,
    FileStat,
    FileType,
    OwnerLimits,
    PatternType,
    Permission,
    PermissionRule,
    Process,
    ProcessEnd,
    ResourceLimits,
    Session,
    SandboxStatus,
    SessionStatus,
    TerminalSize,
)
from .messages import Runtime as RuntimeType
from .messages import Sandbox as SandboxInfo
from .messages import UploadFileResponse as UploadResult
from .presets import (
    PRESET_AGENT_SAFE,
    PRESET_DEVELOPMENT,
    PRESET_FULL_ACCESS,
    PRESET_READ_ONLY,
    PRESET_VIEW_ONLY,
    PRESETS,
    extend_preset,
    get_preset,
    get_preset_dicts,
    list_presets,
    register_preset,
)
from .result import ExecResult
from .utils import (
    count_files,
    generate_codebase_name,
    generate_owner_id,
    human_readable_size,
    walk_directory,
)

__all__ = [
    "AlreadyExistsError",
    "AsyncProcessHandle",
    "AsyncSandbox",
    "AsyncSandboxClient",
    "AsyncSessionWrapper",
    "CancelledError",
    "ChangeKind",
    "ChosenHunks",
    "Codebase",
    "CommandError",
    "CommandTimeoutError",
    "ConflictError",
    "ConnectionFailedError",
    "ExecResult",
    "FailedPreconditionError",
    "FileChange",
    "FileInfo",
    "FileStat",
    "FileType",
    "InvalidArgumentError",
    "NotConnectedError",
    "NotFoundError",
    "OwnerLimits",
    "PRESETS",
    "PRESET_AGENT_SAFE",
    "PRESET_DEVELOPMENT",
    "PRESET_FULL_ACCESS",
    "PRESET_READ_ONLY",
    "PRESET_VIEW_ONLY",
    "PaddockError",
    "PatternType",
    "Permission",
    "PermissionDeniedError",
    "PermissionRule",
    "Process",
    "ProcessEnd",
    "ProcessHandle",
    "PullResult",
    "RateLimitError",
    "RequestTimeoutError",
    "ResourceExhaustedError",
    "ResourceLimits",
    "RuntimeType",
    "Sandbox",
    "SandboxClient",
    "SandboxInfo",
    "SandboxStatus",
    "ServerError",
    "Session",
    "SessionStatus",
    "SessionWrapper",
    "TerminalSize",
    "UnauthenticatedError",
    "UnavailableError",
    "UploadError",
    "UploadResult",
    "__version__",
    "chosen_hunks",
    "count_files",
    "extend_preset",
    "generate_codebase_name",
    "generate_owner_id",
    "get_preset",
    "get_preset_dicts",
    "human_readable_size",
    "list_presets",
    "register_preset",
    "walk_directory",
]
