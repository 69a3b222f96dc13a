"""Removals of what may be gone."""

from __future__ import annotations

import contextlib
from typing import Iterator

from .errors import NotFoundError


@contextlib.contextmanager
def removal() -> Iterator[None]:
    """It is all the same if somebody else was first. A proxy's 404 names no resource, and is raised."""
    try:
        yield
    except NotFoundError as error:
        if not error.resource_type:
            raise
