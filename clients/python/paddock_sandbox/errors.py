"""Errors of the service and of the connection to it. All are a `PaddockError`."""

from __future__ import annotations

import builtins
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, Tuple, Type

if TYPE_CHECKING:
    from .result import CommandResult


class PaddockError(Exception):
    """Base of all errors of this package.

    Attributes:
        message: What happened, as one sentence of the service.
        code: Name of the gRPC status code, for example "NOT_FOUND".
        details: Further values, depending on the code.
    """

    code: str = "UNKNOWN"

    def __init__(self, message: str, *, code: Optional[str] = None, details: Sequence[object] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.code
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
    """The service cannot be reached, or the connection was cut. What was asked may have taken effect or not.

    Attributes:
        unsent: Whether it is certain that the service got nothing of the request.
        endpoint: Address of the service.
    """

    code = "UNAVAILABLE"
    unsent: bool = False
    endpoint: str = ""


class UnavailableError(PaddockError):
    """UNAVAILABLE: the service cannot do it now, or the sandbox ended meanwhile."""

    code = "UNAVAILABLE"


class RequestTimeoutError(ConnectionFailedError, builtins.TimeoutError):
    """No answer, or no further part of it, within the time limit of the client."""


class NotFoundError(PaddockError):
    """NOT_FOUND.

    Attributes:
        resource_type: "sandbox", "codebase", "file", "process", "session", "checkpoint", "image" or "key"; "": unknown.
        resource_id: Its identifier, name or path.
    """

    code = "NOT_FOUND"
    resource_type: str = ""
    resource_id: str = ""


class FailedPreconditionError(PaddockError):
    """FAILED_PRECONDITION: the state of the sandbox or codebase does not permit it."""

    code = "FAILED_PRECONDITION"


class InvalidArgumentError(PaddockError, ValueError):
    """INVALID_ARGUMENT or OUT_OF_RANGE: the message names the field and the allowed values."""

    code = "INVALID_ARGUMENT"


class UnauthenticatedError(PaddockError):
    """UNAUTHENTICATED: no key, or one that is not valid (any more)."""

    code = "UNAUTHENTICATED"


class PermissionDeniedError(PaddockError, builtins.PermissionError):
    """PERMISSION_DENIED: the rules of the sandbox, or the rights of the key, do not permit it.

    Attributes:
        operation: Operation that was refused.
        path: Path that was refused; None if it was not about one.
    """

    code = "PERMISSION_DENIED"
    operation: str = ""
    path: Optional[str] = None


class CancelledError(PaddockError):
    """CANCELLED."""

    code = "CANCELLED"


class ServerError(PaddockError):
    """UNKNOWN, INTERNAL, DATA_LOSS or UNIMPLEMENTED: a fault of the server."""


class ConflictError(PaddockError):
    """ABORTED: somebody else changed the same thing meanwhile.

    Attributes:
        paths: The first 1000 paths in conflict, if a commit or a pull was refused for them; otherwise empty.
    """

    code = "ABORTED"
    paths: Tuple[str, ...] = ()


class AlreadyExistsError(PaddockError):
    """ALREADY_EXISTS: the name or path is taken."""

    code = "ALREADY_EXISTS"


class ResourceExhaustedError(PaddockError):
    """RESOURCE_EXHAUSTED: a limit, which the message names, does not permit it until something is removed."""

    code = "RESOURCE_EXHAUSTED"


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
        output: Both: with `merge` in the order in which they were written.
    """

    code = "DEADLINE_EXCEEDED"
    command: str = ""
    timeout: Optional[timedelta] = None
    stdout: str = ""
    stderr: str = ""
    output: str = ""


class CommandError(PaddockError):
    """A command ended with an exit code other than 0, and the caller asked for an error then.

    Attributes:
        result: What it did.
        exit_code: Its exit code; 128+N if signal N ended it.
    """

    def __init__(self, result: CommandResult) -> None:
        last = (result.stderr or result.output).rstrip()[-2000:]
        super().__init__(f"{result.command} ended with exit code {result.exit_code}" + (f":\n{last}" if last else ""))
        self.result = result
        self.exit_code = result.exit_code
