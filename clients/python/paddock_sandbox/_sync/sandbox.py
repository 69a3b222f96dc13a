# Generated from _async/sandbox.py by `npm run generate`; do not edit.
"""A sandbox, from a local directory or a codebase."""

from __future__ import annotations

import contextlib
import os
import warnings
from typing import TYPE_CHECKING, List, Optional, Union, Unpack

from .._arguments import known_options
from .._paths import require_directory
from .._removal import removal
from .._rules import with_preset
from .._error_of import error_of
from .._settings import settings
from .._unpulled import Unpulled
from ..errors import FailedPreconditionError, InvalidArgumentError
from ..messages import Sandbox as SandboxInfo
from ..options import SandboxOptions
from ..requests import CallOptions, DestroySandboxRequest, ForkRequest, UpdateSandboxRequest
from .api import Api
from .changes import Changes
from .commands import Commands
from .files import Files
from .making import discard_all, made
from .network import Network
from .ports import Ports
from .rules import Rules

if TYPE_CHECKING:
    from .paddock import Paddock


@known_options
class Sandbox(Commands, Changes):
    """A sandbox, made by `create`, `connect` or `fork`, and not by its constructor.

    As a context manager it destroys what it has created at its end: the sandbox, and the codebase of `create`, which
    stays if it may hold work: after `commit` or `fork` of this object, or with `auto_commit`.

    Attributes:
        files: Its files, with the rules; `files.as_owner()` without.
        rules: What its commands may do with each path.
        ports: The TCP ports on which its programs listen, and those that are opened.
        network: What its commands can connect to.
    """

    def __init__(
        self,
        api: Api,
        info: SandboxInfo,
        *,
        owns_client: bool = False,
        owns_codebase: bool = False,
        owns_sandbox: bool = False,
    ) -> None:
        self.api = api
        self.info = info
        self.files = Files(api, info.id)
        self.rules = Rules(api, info.id)
        self.ports = Ports(api, info.id)
        self.network = Network(api, info.id)
        self._owns_client = owns_client
        if owns_client:
            api.use(self)
        self._owns_codebase = owns_codebase
        self._owns_sandbox = owns_sandbox
        self._destroyed = False
        self._unpulled = Unpulled()

    @classmethod
    def create(
        cls,
        from_: Union[str, "os.PathLike[str]", None] = None,
        *,
        codebase: Optional[str] = None,
        paddock: Optional[Paddock] = None,
        **options: Unpack[SandboxOptions],
    ) -> Sandbox:
        """Creates a sandbox, which runs when this returns. Nothing is left on the service if it fails.

        Args:
            from_: Local directory, whose files become a new codebase. ValueError if it is none.
            codebase: Id of a codebase instead, which stays when the sandbox is destroyed. Neither: no files.
            paddock: The client to use, which stays open; None: one of its own, for PADDOCK_URL.
            options: See `SandboxOptions`.
        """
        if from_ is not None and codebase is not None:
            raise InvalidArgumentError("from_ and codebase exclude each other")
        if from_ is not None:
            if not isinstance(from_, (str, os.PathLike)):
                raise InvalidArgumentError("from_ must be the path of a directory")
            require_directory(from_)
        return cls._made(_api_of(paddock), paddock is None, from_, codebase, options)

    @classmethod
    def _made(
        cls,
        api: Api,
        own: bool,
        from_: Union[str, "os.PathLike[str]", None],
        codebase: Optional[str],
        options: SandboxOptions,
    ) -> Sandbox:
        try:
            info, owns_codebase = made(api, from_, codebase, options)
        except BaseException:
            if own:
                api.close()
            raise
        return cls(api, info, owns_client=own, owns_codebase=owns_codebase, owns_sandbox=True)

    @classmethod
    def connect(
        cls, sandbox_id: str, *, paddock: Optional[Paddock] = None, **options: Unpack[CallOptions]
    ) -> Sandbox:
        """An existing sandbox. As a context manager the result only closes its connection; `destroy` destroys."""
        return cls._existing(_api_of(paddock), paddock is None, sandbox_id, options)

    @classmethod
    def _existing(cls, api: Api, own: bool, sandbox_id: str, options: CallOptions) -> Sandbox:
        try:
            return cls(api, api.get_sandbox(sandbox_id=sandbox_id, **options), owns_client=own)
        except BaseException:
            if own:
                api.close()
            raise

    def fork(self, **options: Unpack[ForkRequest]) -> Sandbox:
        """Creates a sandbox with the present files of this one, or those of a checkpoint; see `forks`."""
        return (self.forks(1, **options))[0]

    def forks(self, count: int, **options: Unpack[ForkRequest]) -> List[Sandbox]:
        """As many new sandboxes, all or none. What is None is as in this one; rules replace all of its rules.

        The caller destroys each; this sandbox may be gone by then. If one cannot be created, those that were are
        destroyed, and its error is raised. The codebase stays when this sandbox is destroyed: the forks may commit to
        it.
        """
        has_rules = any(options.get(name) is not None for name in ("preset", "rules", "permissions"))
        fields = with_preset(options) if has_rules else options
        with self._shared_codebase():
            answer = self.api.fork(sandbox_id=self.id, count=count, **fields)
        found = [
            Sandbox(self.api, each.sandbox, owns_client=self._owns_client, owns_sandbox=True)
            for each in answer.results
            if each.sandbox is not None
        ]
        error = next((each.error for each in answer.results if each.error is not None), None)
        if error is not None:
            discard_all(self.api, [each.id for each in found])
            raise error_of({"code": error.code, "message": error.message}, "Fork", {"sandbox_id": self.id})
        return found

    def update(self, **changes: Unpack[UpdateSandboxRequest]) -> None:
        """Changes labels, lifetime, idle policy, shell, environment or working directory, all or nothing.

        A merge patch: `labels={"a": "1", "b": None}` sets one label and removes another. Not repeated after a cut
        connection, because `expires_in` counts from the call.
        """
        self.info = self.api.update_sandbox(sandbox_id=self.id, **changes)

    def stop(self, **options: Unpack[CallOptions]) -> None:
        """Ends every process and keeps the files. Changes nothing if it is stopped."""
        self.info = self.api.stop_sandbox(sandbox_id=self.id, **options)

    def resume(self, **options: Unpack[CallOptions]) -> None:
        """Starts a sandbox that is stopped. Changes nothing if it runs."""
        self.info = self.api.start_sandbox(sandbox_id=self.id, **options)

    def refresh(self, **options: Unpack[CallOptions]) -> SandboxInfo:
        """The sandbox now."""
        self.info = self.api.get_sandbox(sandbox_id=self.id, **options)
        return self.info

    def destroy(self, **options: Unpack[DestroySandboxRequest]) -> None:
        """Destroys the sandbox with its uncommitted changes, and closes its connections as `close` does.

        Does nothing if it is gone. After an error it can be tried again, or the connections closed (`close`).
        `discard`: leave out the commit of `auto_commit`.
        """
        if self._destroyed:
            return
        with removal():
            self.api.destroy_sandbox(sandbox_id=self.id, **options)
        if self._owns_codebase:
            # Another sandbox may use it.
            with removal(), contextlib.suppress(FailedPreconditionError):
                self.api.delete_codebase(codebase_id=self.codebase_id)
        self._destroyed = True
        self.close()

    def close(self) -> None:
        """Closes the connections, unless a fork of it needs them, or they are of `paddock`. The sandbox stays."""
        if self._owns_client:
            self.api.leave(self)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._owns_sandbox and self._unpulled.told and not self._destroyed:
                warnings.warn(
                    f"sandbox {self.id} is kept: {self._unpulled.told}; pull them elsewhere, or destroy it",
                    RuntimeWarning,
                    stacklevel=2,
                )
            elif self._owns_sandbox:
                self.destroy()
        finally:
            self.close()


def _api_of(paddock: Optional[Paddock]) -> Api:
    return Api(settings()) if paddock is None else paddock.api
