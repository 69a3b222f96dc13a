"""Presets: named sets of rules. Those of the service, one of this package, and your own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._preset_rules import SERVER_PRESETS
from .errors import InvalidArgumentError
from .messages import PatternType, Permission, PermissionRule

PRESET_AGENT_SAFE = "agent-safe"
PRESET_READ_ONLY = "read-only"
PRESET_FULL_ACCESS = "full-access"
PRESET_DEVELOPMENT = "development"
PRESET_VIEW_ONLY = "view-only"
#: No rules but those that are given.
PRESET_NONE = "none"

#: A rule, or its fields: `{"pattern": "src/**", "permission": "write"}`.
Rule = Union[PermissionRule, Mapping[str, Any]]
#: Rules in a short form: `{"write": ["src"], "none": ["**/.env*"]}`.
ShortRules = Mapping[str, Sequence[str]]

#: The rules of each preset by name. `register_preset` adds to it.
PRESETS: Dict[str, List[PermissionRule]] = {
    **{name: list(rules) for name, rules in SERVER_PRESETS.items()},
    PRESET_VIEW_ONLY: [PermissionRule("/**", Permission.VIEW, PatternType.GLOB, -100)],
}

_FIELDS = (
    "pattern",
    "permission",
    "contents",
    "type",
    "priority",
    "scratch",
    "view",
    "on_write",
    "redactor",
)
_ALWAYS = ("pattern", "permission", "type", "priority")


def rule_of(rule: Rule) -> PermissionRule:
    """The rule itself, or the one with these fields; type is "glob" and priority 0 if they are left out."""
    if isinstance(rule, PermissionRule):
        return rule
    unknown = set(rule) - set(_FIELDS)
    if unknown or "pattern" not in rule or not ("permission" in rule or rule.get("contents")):
        raise InvalidArgumentError(
            "a rule has pattern and permission or contents, and may have "
            f"{', '.join(_FIELDS[3:])}: {dict(rule)!r} does not"
        )
    scratch = rule.get("scratch")
    return PermissionRule(
        str(rule["pattern"]),
        Permission(rule.get("permission", "none")),
        PatternType(rule.get("type", "glob")),
        int(rule.get("priority", 0)),
        None if scratch is None else bool(scratch),
        rule.get("view"),
        rule.get("on_write"),
        rule.get("redactor"),
        rule.get("contents"),
    )


def get_preset(name: str) -> List[PermissionRule]:
    """The rules of a preset, as this version of the package knows them. ValueError for an unknown name."""
    if name not in PRESETS:
        raise ValueError(f"there is no preset {name!r}: the presets are {', '.join(list_presets())}")
    return list(PRESETS[name])


def get_preset_dicts(name: str) -> List[Dict[str, Any]]:
    """Like `get_preset`, each rule as a dictionary."""
    return [
        {
            "pattern": rule.pattern,
            "permission": rule.permission.value,
            "type": rule.type.value,
            "priority": rule.priority,
            **{name: getattr(rule, name) for name in _FIELDS if name not in _ALWAYS and getattr(rule, name)},
        }
        for rule in get_preset(name)
    ]


def extend_preset(
    base: str,
    additions: Optional[Sequence[Rule]] = None,
    overrides: Optional[Sequence[Rule]] = None,
) -> List[PermissionRule]:
    """The rules of a preset with more of them, for `permissions`.

    `additions` keep their priority. `overrides` get one above all rules of the preset, unless theirs is higher already,
    and show files as they are. ValueError for an unknown preset.
    """
    rules = get_preset(base)
    highest = max((rule.priority for rule in rules), default=0)
    replacing = [rule_of(each) for each in overrides or ()]
    rules += [
        PermissionRule(rule.pattern, Permission.NONE, rule.type, 0, contents="shown")
        for rule in replacing
        if not rule.view and not rule.contents and rule.permission in (Permission.READ, Permission.WRITE)
    ]
    rules += [rule_of(each) for each in additions or ()]
    for rule in replacing:
        priority = rule.priority if rule.priority > highest else highest + 100
        rules.append(replace(rule, priority=priority))
    return rules


def list_presets() -> List[str]:
    """The names of all presets, sorted."""
    return sorted(PRESETS)


def register_preset(name: str, rules: Sequence[Rule]) -> None:
    """Adds a preset of your own for this process. ValueError if the name is taken."""
    if name in PRESETS or name == PRESET_NONE:
        raise ValueError(f"there is a preset {name!r} already")
    PRESETS[name] = [rule_of(each) for each in rules]


def default_preset(permissions: Optional[Sequence[Rule]], rules: Optional[ShortRules]) -> str:
    """The preset of a new sandbox whose caller names none, the same in all clients.

    "development", or "agent-safe" if rules say what commands may do. Rules that only show contents say nothing of that.
    """
    lists = [patterns for name, patterns in (rules or {}).items() if name != "shown"]
    return PRESET_AGENT_SAFE if permissions or any(lists) else PRESET_DEVELOPMENT


def creation_preset(fields: Mapping[str, Any]) -> str:
    """The preset of the fields of a new sandbox, or the default."""
    preset: Optional[str] = fields.get("preset")
    return default_preset(fields.get("permissions"), fields.get("rules")) if preset is None else preset


def rule_fields(
    preset: Optional[str], permissions: Optional[Sequence[Rule]], rules: Optional[ShortRules]
) -> Dict[str, Any]:
    """The fields `preset`, `permissions` and `rules` of a request. Presets that the service has are its own."""
    given = [rule_of(each) for each in permissions or ()]
    name, own = _divided(preset)
    if own and rules:
        raise InvalidArgumentError(
            f"rules cannot extend the preset {preset!r}: give permissions instead"
        )
    return {"preset": name, "permissions": own + given or None, "rules": rules or None}


def _divided(preset: Optional[str]) -> Tuple[Optional[str], List[PermissionRule]]:
    if preset is None or preset in SERVER_PRESETS or preset not in PRESETS:
        return None if preset == PRESET_NONE else preset, []
    return None, get_preset(preset)
