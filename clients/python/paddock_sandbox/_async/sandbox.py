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
from .api import AsyncApi
from .changes import AsyncChanges
from .commands import AsyncCommands
from .files import AsyncFiles
from .making import discard_all, made
from .network import AsyncNetwork
from .opening import Opening
from .ports import AsyncPorts
from .rules import AsyncRules

if TYPE_CHECKING:
    from .paddock import AsyncPaddock


@known_options
class AsyncSandbox(AsyncCommands, AsyncChanges):
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
        api: AsyncApi,
        info: SandboxInfo,
        *,
        owns_client: bool = False,
        owns_codebase: bool = False,
        owns_sandbox: bool = False,
    ) -> None:
        self.api = api
        self.info = info
        self.files = AsyncFiles(api, info.id)
        self.rules = AsyncRules(api, info.id)
        self.ports = AsyncPorts(api, info.id)
        self.network = AsyncNetwork(api, info.id)
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
        paddock: Optional[AsyncPaddock] = None,
        **options: Unpack[SandboxOptions],
    ) -> Opening[AsyncSandbox]:
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
        return Opening(cls._made(_api_of(paddock), paddock is None, from_, codebase, options))

    @classmethod
    async def _made(
        cls,
        api: AsyncApi,
        own: bool,
        from_: Union[str, "os.PathLike[str]", None],
        codebase: Optional[str],
        options: SandboxOptions,
    ) -> AsyncSandbox:
        try:
            info, owns_codebase = await made(api, from_, codebase, options)
        except BaseException:
            if own:
                await api.close()
            raise
        return cls(api, info, owns_client=own, owns_codebase=owns_codebase, owns_sandbox=True)

    @classmethod
    def connect(
        cls, sandbox_id: str, *, paddock: Optional[AsyncPaddock] = None, **options: Unpack[CallOptions]
    ) -> Opening[AsyncSandbox]:
        """An existing sandbox. As a context manager the result only closes its connection; `destroy` destroys."""
        return Opening(cls._existing(_api_of(paddock), paddock is None, sandbox_id, options))

    @classmethod
    async def _existing(cls, api: AsyncApi, own: bool, sandbox_id: str, options: CallOptions) -> AsyncSandbox:
        try:
            return cls(api, await api.get_sandbox(sandbox_id=sandbox_id, **options), owns_client=own)
        except BaseException:
            if own:
                await api.close()
            raise

    async def fork(self, **options: Unpack[ForkRequest]) -> AsyncSandbox:
        """Creates a sandbox with the present files of this one, or those of a checkpoint; see `forks`."""
        return (await self.forks(1, **options))[0]

    async def forks(self, count: int, **options: Unpack[ForkRequest]) -> List[AsyncSandbox]:
        """As many new sandboxes, all or none. What is None is as in this one; rules replace all of its rules.

        The caller destroys each; this sandbox may be gone by then. If one cannot be created, those that were are
        destroyed, and its error is raised. The codebase stays when this sandbox is destroyed: the forks may commit to
        it.
        """
        has_rules = any(options.get(name) is not None for name in ("preset", "rules", "permissions"))
        fields = with_preset(options) if has_rules else options
        with self._shared_codebase():
            answer = await self.api.fork(sandbox_id=self.id, count=count, **fields)
        found = [
            AsyncSandbox(self.api, each.sandbox, owns_client=self._owns_client, owns_sandbox=True)
            for each in answer.results
            if each.sandbox is not None
        ]
        error = next((each.error for each in answer.results if each.error is not None), None)
        if error is not None:
            await discard_all(self.api, [each.id for each in found])
            raise error_of({"code": error.code, "message": error.message}, "Fork", {"sandbox_id": self.id})
        return found

    async def update(self, **changes: Unpack[UpdateSandboxRequest]) -> None:
        """Changes labels, lifetime, idle policy, shell, environment or working directory, all or nothing.

        A merge patch: `labels={"a": "1", "b": None}` sets one label and removes another. Not repeated after a cut
        connection, because `expires_in` counts from the call.
        """
        self.info = await self.api.update_sandbox(sandbox_id=self.id, **changes)

    async def stop(self, **options: Unpack[CallOptions]) -> None:
        """Ends every process and keeps the files. Changes nothing if it is stopped."""
        self.info = await self.api.stop_sandbox(sandbox_id=self.id, **options)

    async def resume(self, **options: Unpack[CallOptions]) -> None:
        """Starts a sandbox that is stopped. Changes nothing if it runs."""
        self.info = await self.api.start_sandbox(sandbox_id=self.id, **options)

    async def refresh(self, **options: Unpack[CallOptions]) -> SandboxInfo:
        """The sandbox now."""
        self.info = await self.api.get_sandbox(sandbox_id=self.id, **options)
        return self.info

    async def destroy(self, **options: Unpack[DestroySandboxRequest]) -> None:
        """Destroys the sandbox with its uncommitted changes, and closes its connections as `close` does.

        Does nothing if it is gone. After an error it can be tried again, or the connections closed (`close`).
        `discard`: leave out the commit of `auto_commit`.
        """
        if self._destroyed:
            return
        with removal():
            await self.api.destroy_sandbox(sandbox_id=self.id, **options)
        if self._owns_codebase:
            # Another sandbox may use it.
            with removal(), contextlib.suppress(FailedPreconditionError):
                await self.api.delete_codebase(codebase_id=self.codebase_id)
        self._destroyed = True
        await self.close()

    async def close(self) -> None:
        """Closes the connections, unless a fork of it needs them, or they are of `paddock`. The sandbox stays."""
        if self._owns_client:
            await self.api.leave(self)

    async def __aenter__(self) -> AsyncSandbox:
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            if self._owns_sandbox and self._unpulled.told and not self._destroyed:
                warnings.warn(
                    f"sandbox {self.id} is kept: {self._unpulled.told}; pull them elsewhere, or destroy it",
                    RuntimeWarning,
                    stacklevel=2,
                )
            elif self._owns_sandbox:
                await self.destroy()
        finally:
            await self.close()


def _api_of(paddock: Optional[AsyncPaddock]) -> AsyncApi:
    return AsyncApi(settings()) if paddock is None else paddock.api
