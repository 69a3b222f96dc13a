"""The errors of the SDK for those of the service and of files."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, Optional, Sequence

from agents.sandbox.errors import (
    ExecTransportError,
    WorkspaceArchiveReadError,
    WorkspaceArchiveWriteError,
    WorkspaceReadNotFoundError,
)
from agents.sandbox.errors import SandboxError as AgentsSandboxError
from paddock_sandbox import ConnectionFailedError, NotFoundError, PaddockError, UnavailableError

from ..shared import TooMuchOutput


def _context(error: Exception) -> Dict[str, object]:
    context: Dict[str, object] = {"backend": "paddock", "message": str(error)}
    if isinstance(error, PaddockError):
        context["code"] = error.code
    return context


def _retryable(error: Exception) -> Optional[bool]:
    """Of a lost connection nobody knows."""
    return None if isinstance(error, (ConnectionFailedError, UnavailableError)) else False


def exec_error(command: Sequence[str], error: PaddockError) -> AgentsSandboxError:
    return ExecTransportError(
        command=command, context=_context(error), cause=error, message=str(error), retryable=_retryable(error)
    )


def output_error(command: Sequence[str], error: TooMuchOutput, limit: int) -> AgentsSandboxError:
    return ExecTransportError(
        command=command,
        context={
            "backend": "paddock",
            "reason": "output_limit",
            "limit_bytes": limit,
            "beginning": error.beginning[:4096].decode(errors="replace"),
        },
        cause=error,
        message=f"the command was killed, because it wrote more than {limit} bytes",
        retryable=False,
    )


def read_error(path: Path, error: Exception) -> AgentsSandboxError:
    if isinstance(error, (FileNotFoundError, NotFoundError)):
        return WorkspaceReadNotFoundError(path=path, cause=error)
    return WorkspaceArchiveReadError(path=path, context=_context(error), cause=error, retryable=_retryable(error))


def write_error(path: Path, error: Exception) -> AgentsSandboxError:
    return WorkspaceArchiveWriteError(
        path=path,
        context=_context(error),
        cause=error,
        retryable=_retryable(error),
        message=f"cannot change {path}: {error}",
    )
