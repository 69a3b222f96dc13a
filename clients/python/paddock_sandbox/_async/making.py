"""Makes codebases and sandboxes, and removes what was made if the caller does not get it."""

from __future__ import annotations

import os
import uuid
from typing import Any, Awaitable, Callable, Dict, Optional, Sequence, Tuple, TypeVar, Union

from ..errors import NotFoundError, FailedPreconditionError, PaddockError
from ..messages import Codebase, Sandbox
from .client import AsyncSandboxClient
from .concurrency import sleep

R = TypeVar("R", Codebase, Sandbox)
#: How often the removal of a codebase is tried, while sandboxes are still made on it.
_REMOVALS = 5


async def uploaded(
    client: AsyncSandboxClient,
    path: Union[str, "os.PathLike[str]", None],
    name: str,
    owner_id: Optional[str],
    upload: Dict[str, Any],
    fields: Dict[str, Any],
    auto_start: bool,
) -> Tuple[Codebase, Sandbox]:
    """A new codebase with the files of a directory, if there is one, and a sandbox on it: both or none."""

    async def create(key: str) -> Codebase:
        return await client.create_codebase(name, owner_id, idempotency_key=key)

    codebase = await _made(create, client.delete_codebase)
    try:
        if path is not None:
            # What the service refuses, it refuses before the upload.
            await client.create_sandbox(codebase.id, **{**fields, "validate_only": True})
            await client.upload_directory(codebase.id, path, **upload)
        return codebase, await created(client, codebase.id, fields, auto_start)
    except BaseException:
        await _attempt(_remove_codebase, client, codebase.id)
        raise


async def created(
    client: AsyncSandboxClient, codebase_id: str, fields: Dict[str, Any], auto_start: bool
) -> Sandbox:
    """A new sandbox, or none."""

    given = fields.get("idempotency_key")

    async def create(key: str) -> Sandbox:
        return await client.create_sandbox(codebase_id, **{**fields, "idempotency_key": given or key})

    # With a key of the caller's the sandbox may be that of an earlier call.
    remove = client.destroy_sandbox if given is None else None
    info = await _made(create, remove)
    if auto_start:
        return info
    try:
        return await client.stop_sandbox(info.id)
    except BaseException:
        if remove is not None:
            await _attempt(remove, info.id)
        raise


async def _made(
    create: Callable[[str], Awaitable[R]], remove: Optional[Callable[[str], Awaitable[None]]]
) -> R:
    """What `create` makes with an idempotency key.

    If the caller is interrupted meanwhile, the service may have made it, or make it yet: the same request again is
    answered with it, and it is removed.
    """
    key = str(uuid.uuid4())
    try:
        return await create(key)
    except Exception:
        raise
    except BaseException:
        if remove is not None:
            await _attempt(_remade, create, remove, key)
        raise


async def _remade(
    create: Callable[[str], Awaitable[R]], remove: Callable[[str], Awaitable[None]], key: str
) -> None:
    await remove((await create(key)).id)


async def discard_all(client: AsyncSandboxClient, sandbox_ids: Sequence[str]) -> None:
    """Destroys sandboxes after an error, without the commits of `auto_commit`."""
    for each in sandbox_ids:
        await _attempt(_discard, client, each)


async def _discard(client: AsyncSandboxClient, sandbox_id: str) -> None:
    try:
        await client.destroy_sandbox(sandbox_id, discard=True)
    except NotFoundError:
        pass


async def _remove_codebase(client: AsyncSandboxClient, codebase_id: str) -> None:
    """Deletes a codebase with its sandboxes: also one whose creation was not answered, and that appears only now."""
    for attempt in range(1, _REMOVALS + 1):
        for each in await client.list_sandboxes(codebase_id):
            await _discard(client, each.id)
        try:
            return await client.delete_codebase(codebase_id)
        except FailedPreconditionError:
            if attempt == _REMOVALS:
                raise
        await sleep(0.1 * attempt)


async def _attempt(cleanup: Callable[..., Awaitable[None]], *arguments: Any) -> None:
    """Cleans up after an error, which is the one that the caller gets."""
    try:
        await cleanup(*arguments)
    except PaddockError:
        pass
