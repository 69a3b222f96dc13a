"""Globs as git reads them (wildmatch with WM_PATHNAME), for paths of bytes."""

from __future__ import annotations

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

#: A set of bytes that a byte may be.
Set = bytes
#: A byte, or a set.
Unit = Union[int, Set]


class Chunk(NamedTuple):
    """What stands between two `*` of a component. `literal`: the same, if no unit has a choice."""

    units: Tuple[Unit, ...]
    literal: Optional[bytes]


#: A component: its chunks, with any run of bytes between them. None: any number of components.
Part = Optional[Tuple[Chunk, ...]]

#: No path is longer, so a longer pattern matches nothing.
_MOST_BYTES = 4096
_ANY = bytes(range(256))
_DEEP = re.compile(rb"\*{2,}(?=\\?/|$)")
#: Bytes before a `**` that stand in its component. git compares what is before the first special byte by itself,
#: and then takes the `**` for directories.
_PREFIX = re.compile(rb"[^*?\[\\]*[^*?\[\\/](?=\*{2,}(\\?/|$))")


def _chunk(units: Sequence[Unit]) -> Chunk:
    plain = [each for each in units if isinstance(each, int)]
    return Chunk(tuple(units), bytes(plain) if len(plain) == len(units) else None)


_ANY_NAME: Part = (_chunk(()), _chunk(()))


class Glob:
    """A glob. The threat: a tree brings its own patterns.

    So the time is at most path x pattern for any input: of several runs only the last one is tried again.
    """

    def __init__(self, prefix: bytes, parts: Sequence[Part]) -> None:
        self._prefix = prefix
        self._parts = tuple(parts)

    @classmethod
    def parse(cls, text: bytes, anywhere: bool) -> Optional[Glob]:
        """None: it matches nothing. `anywhere`: in any directory."""
        before = None if anywhere else _PREFIX.match(text)
        prefix = before.group() if before else b""
        parts = _parts_of(text[len(prefix) :])
        if parts is None or sum(len(each.units) for part in parts for each in part or ()) > _MOST_BYTES:
            return None
        return cls(prefix, [None, *parts] if anywhere else parts)

    def matches(self, names: Sequence[bytes]) -> bool:
        """`names`: the components of the path."""
        if not self._prefix:
            return self._matches(names)
        path = b"/".join(names)
        return path.startswith(self._prefix) and self._matches(path[len(self._prefix) :].split(b"/"))

    def _matches(self, names: Sequence[bytes]) -> bool:
        parts = self._parts
        part = name = deep_name = 0
        deep_part = -1
        while name < len(names):
            if part < len(parts) and parts[part] is None:
                deep_part = part
                part += 1
                # Only one name is left for the last part.
                if part == len(parts) - 1:
                    name = len(names) - 1
                deep_name = name
            elif part < len(parts) and _matches_name(parts[part] or (), names[name]):
                part += 1
                name += 1
            elif deep_part >= 0:
                part = deep_part + 1
                deep_name += 1
                name = deep_name
            else:
                return False
        return part == len(parts)


def _matches_name(chunks: Tuple[Chunk, ...], name: bytes) -> bool:
    first = chunks[0]
    if len(chunks) == 1:
        return len(first.units) == len(name) and _fits(first, name, 0)
    last = chunks[-1]
    end = len(name) - len(last.units)
    at = len(first.units)
    if at > end or not _fits(first, name, 0) or not _fits(last, name, end):
        return False
    for chunk in chunks[1:-1]:
        at = _find(chunk, name, at)
        if at == -1:
            return False
        at += len(chunk.units)
        if at > end:
            return False
    return True


def _fits(chunk: Chunk, name: bytes, at: int) -> bool:
    if chunk.literal is not None:
        return name.startswith(chunk.literal, at)
    for unit, byte in zip(chunk.units, name[at : at + len(chunk.units)]):
        if not (unit == byte if isinstance(unit, int) else byte in unit):
            return False
    return True


def _find(chunk: Chunk, name: bytes, at: int) -> int:
    if chunk.literal is not None:
        return name.find(chunk.literal, at)
    last = len(name) - len(chunk.units)
    return next((place for place in range(at, last + 1) if _fits(chunk, name, place)), -1)


def _parts_of(text: bytes) -> Optional[List[Part]]:
    parts: List[Part] = []
    at = 0
    while at <= len(text):
        deep = _DEEP.match(text, at)
        if deep:
            escaped = text[deep.end() : deep.end() + 1] == b"\\"
            at = deep.end() + (2 if escaped else 1)
            if not parts or parts[-1] is not None:
                parts.append(None)
            # At the end it stands for what is below, without the directory itself.
            # An escaped slash needs one directory.
            if escaped or at > len(text):
                parts.append(_ANY_NAME)
            continue
        found = _component(text, at)
        if found is None:
            return None
        parts.append(found[0])
        at = found[1] + 1
    return parts


def _component(text: bytes, at: int) -> Optional[Tuple[Tuple[Chunk, ...], int]]:
    """The component at `at`, and where its slash is, or the end of the text. None: it matches nothing."""
    chunks: List[Chunk] = []
    units: List[Unit] = []
    while at < len(text) and text[at] != 0x2F:
        char = text[at : at + 1]
        if char == b"*":
            if units or not chunks:
                chunks.append(_chunk(units))
            units = []
        elif char == b"?":
            units.append(_ANY)
        elif char == b"[":
            found = _class(text, at + 1)
            if found is None:
                return None
            members, at = found
            units.append(members)
        elif char == b"\\":
            at += 1
            if at == len(text):
                return None
            # A slash is one, whatever stands before it.
            if text[at] == 0x2F:
                break
            units.append(text[at])
        else:
            units.append(text[at])
        at += 1
    if len(units) > _MOST_BYTES:
        return None
    return (*chunks, _chunk(units)), at


def _class(text: bytes, at: int) -> Optional[Tuple[Set, int]]:
    """A bracket expression, which never matches a slash, and where it ends.

    `at`: after the opening bracket. None: it is not closed, or names an unknown class.
    """
    negated = text[at : at + 1] in (b"!", b"^")
    first = end = at + negated
    members: "set[int]" = set()
    before = -1
    while text[end : end + 1] != b"]" or end == first:
        if text[end : end + 1] == b"-" and before >= 0 and text[end + 1 : end + 2] not in (b"", b"]"):
            end += 2 if text[end + 1 : end + 2] == b"\\" else 1
            if end >= len(text):
                return None
            # Empty, if its ends are in the wrong order.
            members.update(range(before, text[end] + 1))
            before = -1
        elif text.startswith(b"[:", end):
            close = text.find(b"]", end + 2)
            if close == -1:
                return None
            if close > end + 2 and text[close - 1 : close] == b":":
                named = _CLASSES.get(text[end + 2 : close - 1])
                if named is None:
                    return None
                members.update(named)
                before, end = -1, close
            else:
                before = text[end]
                members.add(before)
        else:
            end += text[end : end + 1] == b"\\"
            if end >= len(text):
                return None
            before = text[end]
            members.add(before)
        end += 1
    return bytes((set(_ANY) - members if negated else members) - {0x2F}), end


_CLASSES: Dict[bytes, bytes] = {
    name: bytes(byte for byte in range(128) if re.match(expression, bytes((byte,)), re.DOTALL))
    for name, expression in {
        b"alnum": rb"[0-9A-Za-z]",
        b"alpha": rb"[A-Za-z]",
        b"blank": rb"[ \t]",
        b"cntrl": rb"[\x00-\x1f\x7f]",
        b"digit": rb"[0-9]",
        b"graph": rb"[!-~]",
        b"lower": rb"[a-z]",
        b"print": rb"[ -~]",
        b"punct": rb"[!-/:-@\[-`{-~]",
        b"space": rb"[ \t\n\r]",
        b"upper": rb"[A-Z]",
        b"xdigit": rb"[0-9A-Fa-f]",
    }.items()
}
