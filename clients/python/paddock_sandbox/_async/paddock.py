"""The client of a server."""

from __future__ import annotations

import os
from typing import AsyncGenerator, Optional, Union, Unpack

from .._arguments import known_options
from .._settings import settings
from ..messages import Caller, Preset
from ..options import ClientOptions, SandboxOptions
from ..requests import CallOptions, ListSandboxesRequest
from .administration import AsyncImages, AsyncKeys, AsyncSecrets
from .api import AsyncApi
from .codebases import AsyncCodebases
from .opening import Opening
from .sandbox import AsyncSandbox


@known_options
class AsyncPaddock:
    """A server: by default that of PADDOCK_URL, with the key of PADDOCK_KEY. Close it, or use it as a context manager.

    Calls whose repetition has no second effect are repeated after a cut connection, after a refusal for now (429) as it
    asks for, and with growing random pauses.

    Attributes:
        api: One method for each operation of the service.
        sandboxes: Sandboxes of the server.
        codebases: Stored files that sandboxes start from.
        images: File systems for sandboxes, in place of the host's.
        keys: Keys of callers.
        secrets: Values that commands use by placeholders.
    """

    def __init__(self, **options: Unpack[ClientOptions]) -> None:
        """Does not connect yet. See `ClientOptions`."""
        self.api = AsyncApi(settings(**options))
        self.sandboxes = AsyncSandboxes(self)
        self.codebases = AsyncCodebases(self.api)
        self.images = AsyncImages(self.api)
        self.keys = AsyncKeys(self.api)
        self.secrets = AsyncSecrets(self.api)

    async def health(self, **options: Unpack[CallOptions]) -> None:
        """Returns if the server answers. Needs no key."""
        await self.api.health(**options)

    async def caller(self, **options: Unpack[CallOptions]) -> Caller:
        """The rights of the key."""
        return await self.api.get_caller(**options)

    async def presets(self, **options: Unpack[CallOptions]) -> list[Preset]:
        """Named sets of rules."""
        return [each async for each in self.api.list_presets(**options)]

    async def close(self) -> None:
        """Closes idle connections. Calls afterwards fail."""
        await self.api.close()

    async def __aenter__(self) -> "AsyncPaddock":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


@known_options
class AsyncSandboxes:
    """The sandboxes of a server."""

    def __init__(self, paddock: AsyncPaddock) -> None:
        self._paddock = paddock

    def create(
        self,
        from_: Union[str, "os.PathLike[str]", None] = None,
        *,
        codebase: Optional[str] = None,
        **options: Unpack[SandboxOptions],
    ) -> Opening[AsyncSandbox]:
        """Creates a sandbox with the files of a local directory, or of a codebase; see `AsyncSandbox.create`."""
        return AsyncSandbox.create(from_, codebase=codebase, paddock=self._paddock, **options)

    def get(self, sandbox_id: str, **options: Unpack[CallOptions]) -> Opening[AsyncSandbox]:
        """One sandbox. `NotFoundError` if there is none."""
        return AsyncSandbox.connect(sandbox_id, paddock=self._paddock, **options)

    async def list(self, **options: Unpack[ListSandboxesRequest]) -> AsyncGenerator[AsyncSandbox, None]:
        """The sandboxes that the caller may use, the newest first; only those that match all options."""
        async for info in self._paddock.api.list_sandboxes(**options):
            yield AsyncSandbox(self._paddock.api, info)
