"""Messages to and from JSON."""

from __future__ import annotations

import base64
import dataclasses
import functools
import re
import typing
from datetime import timedelta
from typing import Any, Dict, Mapping, Type, TypeVar, Union, cast

from ._enums import ProtoEnum

M = TypeVar("M")
#: The value null of a merge patch; None is an absent field.
REMOVE = object()


def decode(cls: Type[M], value: Mapping[str, Any]) -> M:
    """The message of a JSON object. Fields that this version does not know are left out."""
    hints = _hints(cast(Any, cls))
    known = {name: _read(hints[name], each) for name, each in value.items() if name in hints}
    return cls(**known)


@functools.lru_cache(maxsize=None)
def _hints(cls: Any) -> Dict[str, Any]:
    return typing.get_type_hints(cls)


def _read(hint: Any, value: Any) -> Any:
    origin = typing.get_origin(hint)
    if origin is Union:
        return None if value is None else _read(typing.get_args(hint)[0], value)
    if origin is tuple:
        return tuple(_read(typing.get_args(hint)[0], each) for each in value)
    if isinstance(hint, type):
        if issubclass(hint, ProtoEnum):
            return hint.from_wire(value)
        if hint is bytes:
            return base64.b64decode(value)
        if dataclasses.is_dataclass(hint):
            return decode(hint, value)
    return value


def encode(value: Any) -> Any:
    """The JSON form of a value of a request. Fields of messages that have their default are left out."""
    if value is REMOVE:
        return None
    if isinstance(value, ProtoEnum):
        return value.wire
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode()
    if isinstance(value, timedelta):
        return seconds(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            each.name: encode(getattr(value, each.name))
            for each in dataclasses.fields(value)
            if not _is_default(each, getattr(value, each.name))
        }
    if isinstance(value, Mapping):
        return {str(key): encode(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [encode(each) for each in value]
    return value


def _is_default(field: "dataclasses.Field[Any]", value: Any) -> bool:
    # A message's presence is in its fields: an enum is sent always, because 0 is a value like the others.
    return value is None or (not isinstance(value, ProtoEnum) and bool(value == field.default))


_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


def exact_seconds(value: Union[int, float, str, timedelta, None]) -> float:
    """Seconds of a duration: a number of them, like "500ms", "30s", "5m" or "2h", or a timedelta. None: 0."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    if not isinstance(value, str):
        return float(value or 0)
    found = _DURATION.fullmatch(value)
    if found is None:
        raise ValueError(f'a duration is seconds, or like "30s" or "5m", not {value!r}')
    return float(found[1]) * _UNITS[found[2]]


def seconds(value: Union[int, float, str, timedelta, None]) -> int:
    """Whole seconds, rounded up, so that no time limit becomes 0, which means none."""
    return int(-(-exact_seconds(value) // 1))
