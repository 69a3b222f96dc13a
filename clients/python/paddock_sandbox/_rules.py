"""The preset of the rules that a caller names."""

from __future__ import annotations

from typing import Any, Mapping, TypeVar, cast

T = TypeVar("T", bound=Mapping[str, Any])


def with_preset(fields: T) -> T:
    """The fields of a request with its preset: "none" stands for no rules but those that are given.

    The preset of rules whose caller names none is the same in all clients: "development", or "agent-safe" if they say
    what commands may do. Rules that only show contents say nothing of that.
    """
    preset = fields.get("preset")
    if preset is None:
        lists = [patterns for name, patterns in (fields.get("rules") or {}).items() if name != "shown"]
        preset = "agent-safe" if fields.get("permissions") or any(lists) else "development"
    return cast(T, {**fields, "preset": None if preset == "none" else preset})
