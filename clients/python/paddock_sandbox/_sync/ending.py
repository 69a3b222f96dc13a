# Generated from _async/ending.py by `npm run generate`; do not edit.
"""The end of a sandbox."""

from __future__ import annotations

import warnings
from types import TracebackType
from typing import Optional, Type

from ..errors import NotFoundError
from .review import ReviewMethods


class EndingMethods(ReviewMethods):
    """Destroys a sandbox, and closes its connection."""

    def destroy(self, delete_codebase: Optional[bool] = None, *, discard: bool = False) -> None:
        """Destroys the sandbox with its uncommitted changes, and closes the connection, if this object made it.

        Does nothing after it has worked. After an error it can be tried again, or the connection closed (`close`).
        `delete_codebase`: None: only if this object created it, and has neither committed nor forked. `discard`: leave
        out the commit of `auto_commit`.
        """
        if self._destroyed:
            return
        try:
            self._client.destroy_sandbox(self.id, discard=discard)
        except NotFoundError:
            pass
        if self._owns_codebase if delete_codebase is None else delete_codebase:
            try:
                self._client.delete_codebase(self.codebase_id)
            except NotFoundError:
                pass
        self._destroyed = True
        self.close()

    def close(self) -> None:
        """Closes the connection, if this object made it. The sandbox stays."""
        if self._owns_client:
            self._client.close()

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        try:
            if self._owns_sandbox and self._unpulled and not self._destroyed:
                warnings.warn(
                    f"sandbox {self.id} is kept: {len(self._unpulled)} of its changes could not be pulled, for example"
                    f" {self._unpulled[0]!r}; pull them elsewhere, or destroy it",
                    RuntimeWarning,
                    stacklevel=2,
                )
            elif self._owns_sandbox:
                self.destroy()
        finally:
            self.close()
