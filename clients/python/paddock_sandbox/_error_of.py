"""Turns error answers of the service into exceptions."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Type

from . import errors
from ._json import parse

CODES: Sequence[str] = (
    "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED "
    "RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE "
    "DATA_LOSS UNAUTHENTICATED"
).split()

_CLASSES: Dict[str, Type[errors.PaddockError]] = {
    "INVALID_ARGUMENT": errors.InvalidArgumentError,
    "OUT_OF_RANGE": errors.InvalidArgumentError,
    "DEADLINE_EXCEEDED": errors.CommandTimeoutError,
    "CANCELLED": errors.CancelledError,
    "UNKNOWN": errors.ServerError,
    "INTERNAL": errors.ServerError,
    "DATA_LOSS": errors.ServerError,
    "UNIMPLEMENTED": errors.ServerError,
    "FAILED_PRECONDITION": errors.FailedPreconditionError,
    "ALREADY_EXISTS": errors.AlreadyExistsError,
    "PERMISSION_DENIED": errors.PermissionDeniedError,
    "ABORTED": errors.ConflictError,
    "UNAVAILABLE": errors.UnavailableError,
    "UNAUTHENTICATED": errors.UnauthenticatedError,
}

#: Of answers that are not the service's, for example of a proxy.
_CODE_OF_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    501: "UNIMPLEMENTED",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "UNAVAILABLE",
}


def error_of_answer(
    status: int, raw: bytes, retry_after: str, address: str, operation: str, request: Mapping[str, Any]
) -> errors.PaddockError:
    """The exception for an answer that is no success. `retry_after`: the header, or empty."""
    body = parse(raw)
    if not isinstance(body, dict) or not isinstance(body.get("code"), int) or "message" not in body:
        code = CODES.index(_CODE_OF_STATUS.get(status, "UNKNOWN"))
        body = {"code": code, "message": f"{status} from {address} (not a Paddock response)"}
    return error_of(body, operation, request, float(retry_after) if retry_after.isdigit() else None)


def error_of(
    body: Mapping[str, Any],
    operation: str,
    request: Mapping[str, Any],
    retry_after: Optional[float] = None,
) -> errors.PaddockError:
    """The exception for the body of an error answer: `{code, message, details}`.

    `retry_after`: the header's seconds.
    """
    number = body.get("code")
    name = CODES[number] if isinstance(number, int) and 0 <= number < len(CODES) else "UNKNOWN"
    message = str(body.get("message", ""))
    details: List[Any] = body.get("details") or []
    kind, more = _classify(name, details, operation, request, retry_after)
    error = kind(message, code=name, details=details)
    for attribute, value in more.items():
        setattr(error, attribute, value)
    return error


def _classify(
    name: str,
    details: List[Any],
    operation: str,
    request: Mapping[str, Any],
    retry_after: Optional[float],
) -> Tuple[Type[errors.PaddockError], Dict[str, Any]]:
    if name == "NOT_FOUND":
        return errors.NotFoundError, _missing(details)
    if name == "RESOURCE_EXHAUSTED":
        delay = _retry_delay(details) if retry_after is None else retry_after
        if delay is None:
            return errors.ResourceExhaustedError, {}
        return errors.RateLimitError, {"retry_after": delay}
    return _CLASSES.get(name, errors.PaddockError), _more(name, details, operation, request)


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
            "timeout": timedelta(seconds=request["timeout"]) if request.get("timeout") else None,
            "stdout": output.get("stdout", ""),
            "stderr": output.get("stderr", ""),
            "output": output.get("output") or output.get("stdout", "") + output.get("stderr", ""),
        }
    return {}


def _missing(details: List[Any]) -> Dict[str, Any]:
    for each in details:
        if isinstance(each, dict) and str(each.get("@type", "")).endswith("google.rpc.ResourceInfo"):
            kind, name = each.get("resourceType", ""), each.get("resourceName", "")
            return {"resource_type": str(kind), "resource_id": str(name)}
    return {}


def _retry_delay(details: List[Any]) -> Optional[float]:
    for each in details:
        delay = each.get("retryDelay") if isinstance(each, dict) else None
        if isinstance(delay, str) and re.fullmatch(r"\d+(\.\d+)?s", delay):
            return float(delay[:-1])
    return None
