"""The base of the enums in messages.py."""

from __future__ import annotations

from enum import Enum
from typing import Type, TypeVar

E = TypeVar("E", bound="ProtoEnum")


class ProtoEnum(str, Enum):
    """A string: the name of the contract in lower case, without the prefix that all values have."""

    @classmethod
    def wire_prefix(cls) -> str:
        """The prefix of the names in requests and answers."""
        raise NotImplementedError

    @property
    def wire(self) -> str:
        """The name in requests and answers."""
        return self.wire_prefix() + str(self.value).upper()

    @classmethod
    def from_wire(cls: Type[E], name: str) -> E:
        """The member of a name in an answer. A name that this version does not know becomes a member of its own."""
        prefix = cls.wire_prefix()
        value = (name[len(prefix) :] if name.startswith(prefix) else name).lower()
        try:
            return cls(value)
        except ValueError:
            unknown = str.__new__(cls, value)
            unknown._name_ = value.upper()
            unknown._value_ = value
            return unknown

    def __str__(self) -> str:
        return str(self.value)
