# Generated from _async/paddock.py by `npm run generate`; do not edit.
"""The client of a server."""

from __future__ import annotations

import os
from typing import Generator, Optional, Union, Unpack

from .._arguments import known_options
from .._settings import settings
from ..messages import Caller, Preset
from ..options import ClientOptions, SandboxOptions
from ..requests import CallOptions, ListSandboxesRequest
from .administration import Images, Keys, Secrets
from .api import Api
from .codebases import Codebases
from .sandbox import Sandbox


@known_options
class Paddock:
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
        self.api = Api(settings(**options))
        self.sandboxes = Sandboxes(self)
        self.codebases = Codebases(self.api)
        self.images = Images(self.api)
        self.keys = Keys(self.api)
        self.secrets = Secrets(self.api)

    def health(self, **options: Unpack[CallOptions]) -> None:
        """Returns if the server answers. Needs no key."""
        self.api.health(**options)

    def caller(self, **options: Unpack[CallOptions]) -> Caller:
        """The rights of the key."""
        return self.api.get_caller(**options)

    def presets(self, **options: Unpack[CallOptions]) -> list[Preset]:
        """Named sets of rules."""
        return [each for each in self.api.list_presets(**options)]

    def close(self) -> None:
        """Closes idle connections. Calls afterwards fail."""
        self.api.close()

    def __enter__(self) -> "Paddock":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@known_options
class Sandboxes:
    """The sandboxes of a server."""

    def __init__(self, paddock: Paddock) -> None:
        self._paddock = paddock

    def create(
        self,
        from_: Union[str, "os.PathLike[str]", None] = None,
        *,
        codebase: Optional[str] = None,
        **options: Unpack[SandboxOptions],
    ) -> Sandbox:
        """Creates a sandbox with the files of a local directory, or of a codebase; see `Sandbox.create`."""
        return Sandbox.create(from_, codebase=codebase, paddock=self._paddock, **options)

    def get(self, sandbox_id: str, **options: Unpack[CallOptions]) -> Sandbox:
        """One sandbox. `NotFoundError` if there is none."""
        return Sandbox.connect(sandbox_id, paddock=self._paddock, **options)

    def list(self, **options: Unpack[ListSandboxesRequest]) -> Generator[Sandbox, None, None]:
        """The sandboxes that the caller may use, the newest first; only those that match all options."""
        for info in self._paddock.api.list_sandboxes(**options):
            yield Sandbox(self._paddock.api, info)
