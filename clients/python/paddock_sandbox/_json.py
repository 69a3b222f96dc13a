"""Messages to and from JSON."""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
import typing
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


def parse(raw: bytes) -> Any:
    """JSON; None for anything else, which is not from the service."""
    try:
        return json.loads(raw)
    except ValueError:
        return None
