"""Turns error answers of the service into exceptions."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, Optional, Tuple, Type

from . import errors

CODES = (
    "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED "
    "RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE "
    "DATA_LOSS UNAUTHENTICATED"
).split()

_CLASSES: Dict[str, Type[errors.SandboxError]] = {
    "INVALID_ARGUMENT": errors.InvalidConfigurationError,
    "OUT_OF_RANGE": errors.InvalidConfigurationError,
    "DEADLINE_EXCEEDED": errors.CommandTimeoutError,
    "ALREADY_EXISTS": errors.AlreadyExistsError,
    "PERMISSION_DENIED": errors.PermissionDeniedError,
    "ABORTED": errors.ConflictError,
    "UNAVAILABLE": errors.UnavailableError,
    "UNAUTHENTICATED": errors.AuthenticationError,
}

_MISSING: Dict[str, Type[errors.NotFoundError]] = {
    "sandbox": errors.SandboxNotFoundError,
    "codebase": errors.CodebaseNotFoundError,
    "session": errors.SessionNotFoundError,
    "file": errors.FileNotFoundError,
}
_NAMED = re.compile(r'(sandbox|codebase|session|process|key|image) "([^"]*)" (?:does not|no longer) exist')


def error_of(
    body: Mapping[str, Any],
    operation: str,
    request: Mapping[str, Any],
    retry_after: Optional[float] = None,
) -> errors.SandboxError:
    """The exception for the body of an error answer: `{code, message, details}`.

    `retry_after`: the header's seconds.
    """
    number = body.get("code")
    name = CODES[number] if isinstance(number, int) and 0 <= number < len(CODES) else ""
    message = str(body.get("message", ""))
    details: List[Any] = body.get("details") or []
    kind, more = _classify(name, message, details, operation, request, retry_after)
    error = kind(message, code=name, grpc_code=number, details=details)
    for attribute, value in more.items():
        setattr(error, attribute, value)
    return error


def _classify(
    name: str,
    message: str,
    details: List[Any],
    operation: str,
    request: Mapping[str, Any],
    retry_after: Optional[float],
) -> Tuple[Type[errors.SandboxError], Dict[str, Any]]:
    if name == "NOT_FOUND":
        resource, identifier = _missing(message, details, request)
        return _MISSING.get(resource, errors.NotFoundError), {
            "resource": resource,
            "id": identifier,
            **({"session_id": identifier} if resource == "session" else {}),
        }
    if name == "RESOURCE_EXHAUSTED":
        delay = _retry_delay(details) if retry_after is None else retry_after
        if delay is None:
            return errors.ResourceLimitExceededError, {}
        return errors.RateLimitError, {"retry_after": delay}
    if name == "FAILED_PRECONDITION":
        return _precondition(message, request)
    return _CLASSES.get(name, errors.SandboxError), _more(name, details, operation, request)


def _more(name: str, details: List[Any], operation: str, request: Mapping[str, Any]) -> Dict[str, Any]:
    if name == "ABORTED":
        found = [each["conflicts"] for each in details if isinstance(each, dict) and "conflicts" in each]
        return {"paths": tuple(path for paths in found for path in paths)}
    if name == "PERMISSION_DENIED":
        return {"operation": operation, "path": request.get("path") or request.get("file_path")}
    if name == "DEADLINE_EXCEEDED":
        output = next((each for each in details if isinstance(each, dict)), {})
        return {
            "command": request.get("command") or " ".join(request.get("argv", ())),
            "timeout_seconds": request.get("timeout", 0),
            "stdout": output.get("stdout", "") or output.get("output", ""),
            "stderr": output.get("stderr", ""),
        }
    return {}


def _missing(message: str, details: List[Any], request: Mapping[str, Any]) -> Tuple[str, str]:
    for each in details:
        if isinstance(each, dict) and str(each.get("@type", "")).endswith("google.rpc.ResourceInfo"):
            return str(each.get("resourceType", "")), str(each.get("resourceName", ""))
    # Servers that do not say it yet.
    named = _NAMED.search(message)
    if named:
        return named.group(1), named.group(2)
    if "has no checkpoint" in message:
        return "checkpoint", str(request.get("name") or request.get("checkpoint") or "")
    path = request.get("file_path") or request.get("path") or request.get("from") or ""
    return ("file", str(path)) if path else ("", "")


def _precondition(
    message: str, request: Mapping[str, Any]
) -> Tuple[Type[errors.SandboxError], Dict[str, Any]]:
    if "session" in message and ("has ended" in message or "SESSION_CLOSED" in message):
        return errors.SessionClosedError, {"session_id": request.get("session_id", "")}
    if re.search(r"SANDBOX_(STOPPED|ERROR|PENDING)|not running", message):
        return errors.SandboxNotRunningError, {"sandbox_id": request.get("sandbox_id", "")}
    return errors.PreconditionError, {}


def _retry_delay(details: List[Any]) -> Optional[float]:
    for each in details:
        delay = each.get("retryDelay") if isinstance(each, dict) else None
        if isinstance(delay, str) and re.fullmatch(r"\d+(\.\d+)?s", delay):
            return float(delay[:-1])
    return None
