"""The preset of rules that a sandbox gets."""

from __future__ import annotations

from typing import Any, Mapping, TypeVar, cast

T = TypeVar("T", bound=Mapping[str, Any])


def with_preset(fields: T, is_new: bool = False) -> T:
    """The fields of a request with its preset: "none" stands for no rules but those that are given.

    The preset of a new sandbox whose caller names none is the same in all clients: "development", or "agent-safe" if
    rules say what commands may do. Rules that only show contents say nothing of that.
    """
    preset = fields.get("preset")
    if preset is None and is_new:
        lists = [patterns for name, patterns in (fields.get("rules") or {}).items() if name != "shown"]
        preset = "agent-safe" if fields.get("permissions") or any(lists) else "development"
    return cast(T, {**fields, "preset": None if preset == "none" else preset})
