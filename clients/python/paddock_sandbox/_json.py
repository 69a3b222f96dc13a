"""Messages to and from JSON."""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
import typing
from datetime import datetime, timedelta, timezone
from enum import StrEnum
from typing import Any, Dict, Mapping, Tuple, Type, TypeVar, Union, cast

from ._duration import Duration, exact_seconds
from ._table import DURATIONS, MAPS, WORDS
from .errors import InvalidArgumentError

M = TypeVar("M")


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
        inner = typing.get_args(hint)[0]
        # A time of 0 is none.
        return None if value is None or (inner is datetime and value == 0) else _read(inner, value)
    if origin is tuple:
        return tuple(_read(typing.get_args(hint)[0], each) for each in value)
    if isinstance(hint, type):
        if issubclass(hint, StrEnum):
            return _short(hint, value)
        if hint is bytes:
            return base64.b64decode(value)
        if hint is datetime:
            return datetime.fromtimestamp(value, timezone.utc)
        if hint is timedelta:
            return timedelta(seconds=value)
        if dataclasses.is_dataclass(hint):
            return decode(hint, value)
    return value


def _short(hint: Type[StrEnum], name: str) -> str:
    """The service's name without its prefix. One that this version does not know is a text."""
    word = name[name.find("_") + 1 :].lower()
    try:
        return hint(word)
    except ValueError:
        return word


def encode(fields: Mapping[str, Any], nulls: bool = False) -> Dict[str, Any]:
    """The JSON form of fields of a request. None is absent; with `nulls` it removes, as in a merge patch."""
    found: Dict[str, Any] = {}
    for name, value in fields.items():
        if value is not None:
            wire = _UNITED.get((name, type(value)), name.rstrip("_"))
            found[wire] = _encoded(name, value)
        elif nulls:
            found[name] = None
    return found


#: Fields that have another name for values of a type.
_UNITED: Dict[Tuple[str, type], str] = {
    ("command", list): "argv",
    ("command", tuple): "argv",
    ("stdin", bytes): "stdin_bytes",
}


def _encoded(name: str, value: Any) -> Any:
    if name in DURATIONS:
        return _units(name, value)
    if name in WORDS:
        return _name(name, value)
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        given = {each.name: getattr(value, each.name) for each in dataclasses.fields(value) if _is_given(each, value)}
        return encode(given)
    if isinstance(value, Mapping):
        return {str(key): each for key, each in value.items()} if name in MAPS else encode(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_encoded(name, each) for each in value]
    return value


def _units(name: str, value: Duration) -> int:
    """As the service counts it. A part of a unit would be another time limit than the caller's."""
    units = round(exact_seconds(name, value) * DURATIONS[name], 6)
    if not units.is_integer():
        raise InvalidArgumentError(f"{name} must be whole {'seconds' if DURATIONS[name] == 1 else 'milliseconds'}")
    return int(units)


def _name(field: str, word: str) -> str:
    prefix, words = WORDS[field]
    try:
        return prefix + words(word).name
    except ValueError:
        raise InvalidArgumentError(f"{field} must be one of {', '.join(words)}, and not {word!r}") from None


def _is_given(field: "dataclasses.Field[Any]", message: Any) -> bool:
    # A message's presence is in its fields: an enum is sent always, because 0 is a value like the others.
    value = getattr(message, field.name)
    return value is not None and (isinstance(value, StrEnum) or value != field.default)


def parse(raw: bytes) -> Any:
    """JSON; None for anything else, which is not from the service."""
    try:
        return json.loads(raw)
    except ValueError:
        return None
