# Generated from _async/state.py by `npm run generate`; do not edit.
"""What a sandbox object has and knows without a call."""

from __future__ import annotations

import contextlib
from typing import Iterator

from .._unpulled import Unpulled
from ..errors import InvalidArgumentError
from ..messages import Runtime, SandboxStatus
from ..messages import Sandbox as SandboxInfo
from .api import Api


class State:
    """State of a sandbox object.

    Attributes:
        api: One method for each operation of the service.
        info: The sandbox when the service was last asked; see `refresh`.
    """

    api: Api
    info: SandboxInfo
    _owns_codebase: bool
    _unpulled: Unpulled

    @contextlib.contextmanager
    def _shared_codebase(self) -> Iterator[None]:
        """Others may use the codebase from this call on, even if its answer is lost; not if it is refused as it is."""
        owned = self._owns_codebase
        self._owns_codebase = False
        try:
            yield
        except InvalidArgumentError:
            self._owns_codebase = owned
            raise

    @property
    def id(self) -> str:
        """Identifier of the sandbox."""
        return self.info.id

    @property
    def codebase_id(self) -> str:
        """Identifier of its codebase."""
        return self.info.codebase_id

    @property
    def status(self) -> SandboxStatus:
        """Its state when the service was last asked."""
        return self.info.status

    @property
    def runtime(self) -> Runtime:
        """Mechanism that isolates it."""
        return self.info.runtime

    def __repr__(self) -> str:
        return f"{type(self).__name__}(id={self.id!r}, status={str(self.status)!r})"
