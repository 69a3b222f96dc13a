"""Errors of the service and of the connection to it. All are a `PaddockError`."""

from __future__ import annotations

import builtins
from datetime import timedelta
from typing import Any, Dict, Optional, Sequence, Tuple, Type


class PaddockError(Exception):
    """Base of all errors of this package.

    Attributes:
        message: What happened, as one sentence of the service.
        code: Name of the gRPC status code, for example "NOT_FOUND"; empty if the service gave none.
        grpc_code: Number of that code; None if the service gave none.
        details: Further values, depending on the code.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        grpc_code: Optional[int] = None,
        details: Sequence[object] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.grpc_code = grpc_code
        self.details: Tuple[object, ...] = tuple(details)

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> Tuple[Any, ...]:
        # Without the constructors, whose arguments differ: for `pickle` (of a process pool) and `copy`.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: Type[PaddockError], arguments: Tuple[Any, ...], state: Dict[str, Any]) -> PaddockError:
    error = kind.__new__(kind)
    error.args = arguments
    error.__dict__.update(state)
    return error


class ConnectionFailedError(PaddockError, builtins.ConnectionError):
    """The service cannot be reached, or the connection was cut. What was asked may have taken effect or not."""

    endpoint: str = ""


class NotConnectedError(ConnectionFailedError):
    """The connection could not be made: the service has not seen the request."""


class UnavailableError(PaddockError):
    """UNAVAILABLE: the service cannot do it now, or the sandbox ended meanwhile."""


class RequestTimeoutError(ConnectionFailedError, builtins.TimeoutError):
    """No answer, or no further part of it, within the time limit of the client."""


class NotFoundError(PaddockError):
    """NOT_FOUND.

    Attributes:
        resource: "sandbox", "codebase", "session", "process", "key", "image", "checkpoint" or "file"; empty: not known.
        id: Its identifier, name or path.
    """

    resource: str = ""
    id: str = ""


class UploadError(PaddockError):
    """A local directory cannot be uploaded.

    Attributes:
        file_path: Path of the file in the directory.
    """

    file_path: str = ""


class FailedPreconditionError(PaddockError):
    """FAILED_PRECONDITION: the state of the sandbox or codebase does not permit it."""


class InvalidArgumentError(PaddockError, ValueError):
    """INVALID_ARGUMENT or OUT_OF_RANGE: the message names the field and the allowed values."""


class UnauthenticatedError(PaddockError):
    """UNAUTHENTICATED: no key, or one that is not valid (any more)."""


class PermissionDeniedError(PaddockError, builtins.PermissionError):
    """PERMISSION_DENIED: the rules of the sandbox, or the rights of the key, do not permit it.

    Attributes:
        operation: Operation that was refused.
        path: Path that was refused; None if it was not about one.
    """

    operation: str = ""
    path: Optional[str] = None


class CancelledError(PaddockError):
    """CANCELLED."""


class ServerError(PaddockError):
    """UNKNOWN, INTERNAL, DATA_LOSS or UNIMPLEMENTED: a fault of the server."""


class ConflictError(PaddockError):
    """ABORTED: somebody else changed the same thing meanwhile.

    Attributes:
        paths: The first 1000 paths in conflict, if a commit or a pull was refused for them; otherwise empty.
    """

    paths: Tuple[str, ...] = ()


class AlreadyExistsError(PaddockError):
    """ALREADY_EXISTS: the name or path is taken."""


class ResourceExhaustedError(PaddockError):
    """RESOURCE_EXHAUSTED: a limit, which the message names, does not permit it until something is removed."""


class RateLimitError(ResourceExhaustedError):
    """RESOURCE_EXHAUSTED by a limit of calls, also after the retries of the client.

    Attributes:
        retry_after: Seconds after which a repetition may succeed.
    """

    retry_after: float = 0.0


class CommandTimeoutError(PaddockError, builtins.TimeoutError):
    """DEADLINE_EXCEEDED: the command and what it started were killed at the end of its time limit.

    Attributes:
        command: The command.
        timeout: Its time limit; None: that of the server.
        stdout: Its output so far.
        stderr: The same of standard error.
    """

    command: str = ""
    timeout: Optional[timedelta] = None
    stdout: str = ""
    stderr: str = ""


class CommandError(PaddockError):
    """A command ended with an exit code other than 0, and the caller asked for an error then.

    Attributes:
        command: The command.
        exit_code: Its exit code; 128+N if signal N ended it.
        stdout: Its output.
        stderr: The same of standard error.
    """

    def __init__(self, command: str, exit_code: int, stdout: str = "", stderr: str = "") -> None:
        last = (stderr or stdout).strip()[-500:]
        shown = command if len(command) <= 100 else f"{command[:100]}…"
        super().__init__(f"exit code {exit_code}: {shown}" + (f"\n{last}" if last else ""))
        self.command = command
        self.exit_code = exit_code
        self.stdout = stdout
        self.stderr = stderr
