"""Names of files that are renamed to their place when they are complete. A client that is killed before leaves them."""

from __future__ import annotations

import os
import re

_NAME = re.compile(r"\.paddock-[0-9a-f]{16}\.tmp")


def temporary_name() -> str:
    """A new one."""
    return f".paddock-{os.urandom(8).hex()}.tmp"


def is_temporary(name: str) -> bool:
    """Whether it has such a name."""
    return _NAME.fullmatch(name) is not None
