"""Lengths of time, with their units."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Union

from .errors import InvalidArgumentError

#: A number with its unit ("500ms", "30s", "5m", "2h"), or a timedelta.
Duration = Union[str, timedelta, None]

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


def exact_seconds(option: str, value: Duration) -> float:
    """Seconds of a duration; None: 0. A bare number is refused, too: its unit would be a guess."""
    if value is None:
        return 0.0
    if isinstance(value, timedelta):
        if value < timedelta():
            raise InvalidArgumentError(f"{option} must not be negative")
        return value.total_seconds()
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise InvalidArgumentError(f'{option} is like "500ms", "30s", "5m" or "2h", or a timedelta, not {value!r}')
    return round(float(found[1]) * _UNITS[found[2]], 6)
