"""What the arguments of callers must be."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Callable, Dict, Mapping, Sequence, Tuple

from ._duration import exact_seconds
from ._json import encode
from .errors import InvalidArgumentError

#: What a value must be, and whether it is.
_Check = Tuple[str, Callable[[Any], bool]]
_LISTS = (list, tuple, set, frozenset)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, _LISTS) and all(map(_is_text, value))


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping) and all(each is None or _is_text(each) for each in value.values())


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping) or dataclasses.is_dataclass(value)


_FORMS: Dict[str, _Check] = {
    "string": ("a string", _is_text),
    "strings": ("a list of strings", _are_texts),
    "command": ("a string or a list of strings", lambda value: _is_text(value) or _are_texts(value)),
    "text": ("a string or bytes", lambda value: isinstance(value, (str, bytes))),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "object": ("an object", _is_object),
    "objects": ("a list of objects", lambda value: isinstance(value, _LISTS) and all(map(_is_object, value))),
    "map": ("an object of strings", _is_map),
    "function": ("a function", callable),
    "any": ("", lambda value: True),
}


def require_form(name: str, value: Any, form: str) -> None:
    """Raises `InvalidArgumentError`; None stands for what is left out. See the forms of the TypeScript client.

    `form`: a name of `_FORMS`, "duration", "converted", "integer LOWEST HIGHEST NOTE", or "one A|B"; "!" before: and
    not empty.
    """
    required = form.startswith("!")
    if value is None and not required:
        return
    kind, what, fits = _parsed(form)
    if kind == "duration":
        exact_seconds(name, value)
    if kind == "converted":
        # Lengths of time in the units of the service, and words.
        encode({name: value})
    missing = required and (value is None or (isinstance(value, (str, *_LISTS)) and not value))
    if missing or not fits(value):
        more = " that is not empty" if required and kind in _FORMS else ""
        raise InvalidArgumentError(f"{name} must be {what}{more}")


@functools.lru_cache(maxsize=None)
def _parsed(form: str) -> Tuple[str, str, Callable[[Any], bool]]:
    kind, *rest = form.lstrip("!").split(" ")
    made = {"integer": _integer, "one": _one}.get(kind)
    return kind, *(made(rest) if made else _FORMS.get(kind, _FORMS["any"]))


def _integer(bounds: Sequence[str]) -> _Check:
    what = f"an integer of at least {bounds[0]}" if bounds else "an integer"
    if len(bounds) > 1:
        note = f" ({' '.join(bounds[2:])})" if len(bounds) > 2 else ""
        what = f"an integer between {bounds[0]} and {bounds[1]}{note}"

    def fits(value: Any) -> bool:
        if not isinstance(value, int) or isinstance(value, bool):
            return False
        return not (bounds and value < int(bounds[0])) and not (len(bounds) > 1 and value > int(bounds[1]))

    return what, fits


def _one(words: Sequence[str]) -> _Check:
    allowed = words[0].split("|")
    return f"one of {', '.join(allowed)}", lambda value: value == "" or value in allowed
