"""Makes codebases and sandboxes, and removes what was made if the caller does not get it."""

from __future__ import annotations

import os
import uuid
from typing import Any, Awaitable, Callable, Optional, Sequence, Tuple, TypeVar, Union, cast

from .._arguments import require_arguments
from .._rules import with_preset
from ..errors import FailedPreconditionError, NotFoundError, PaddockError
from ..messages import Codebase, Sandbox
from ..options import SandboxOptions, UploadOptions
from ..requests import CallOptions, CreateSandboxRequest
from .api import AsyncApi
from .codebases import AsyncCodebases
from .concurrency import sleep

R = TypeVar("R", Codebase, Sandbox)
#: How often the removal of a codebase is tried, while sandboxes are still made on it.
_REMOVALS = 5


#: Options that are no fields of the new sandbox.
_OWN = frozenset(SandboxOptions.__annotations__) - frozenset(CreateSandboxRequest.__annotations__)


async def made(
    api: AsyncApi, directory: Union[str, "os.PathLike[str]", None], codebase_id: Optional[str], options: SandboxOptions
) -> Tuple[Sandbox, bool]:
    """A new sandbox, and whether its codebase is to be deleted with it: both or none."""
    request = cast(CreateSandboxRequest, {k: v for k, v in with_preset(options).items() if k not in _OWN})
    # A mistake among the options is found before anything is made.
    require_arguments("CreateSandbox", {**request, "codebase_id": "-"})
    call: CallOptions = {"timeout": options.get("timeout"), "max_retries": options.get("max_retries")}
    if codebase_id is not None:
        return await _created(api, codebase_id, request), False

    async def create(key: str) -> Codebase:
        name = options.get("name") or ("sandbox" if directory is None else _name_of(directory))
        return await api.create_codebase(name=name, owner_id=options.get("owner_id"), idempotency_key=key, **call)

    async def remove(made_id: str) -> None:
        await api.delete_codebase(codebase_id=made_id)

    codebase = await _made(create, remove)
    try:
        if directory is not None:
            # What the service refuses, it refuses before the upload.
            await api.create_sandbox(codebase_id=codebase.id, validate_only=True, **request)
            upload = cast(UploadOptions, {k: v for k, v in options.items() if k in UploadOptions.__annotations__})
            await AsyncCodebases(api).upload(codebase.id, directory, **upload)
        info = await _created(api, codebase.id, request)
    except BaseException:
        await _attempt(_remove_codebase, api, codebase.id)
        raise
    return info, not options.get("keep_codebase") and options.get("auto_commit") in (None, "", "never")


def _name_of(directory: Union[str, "os.PathLike[str]"]) -> str:
    name = os.path.basename(os.path.realpath(directory)) or "root"
    return name.encode("utf-8", "replace").decode()[:255]


async def _created(api: AsyncApi, codebase_id: str, request: CreateSandboxRequest) -> Sandbox:
    """A new sandbox, or none."""
    given = request.get("idempotency_key")

    async def create(key: str) -> Sandbox:
        keyed: CreateSandboxRequest = {**request, "idempotency_key": given or key}
        return await api.create_sandbox(codebase_id=codebase_id, **keyed)

    async def remove(made_id: str) -> None:
        await api.destroy_sandbox(sandbox_id=made_id)

    # With a key of the caller's the sandbox may be that of an earlier call.
    return await _made(create, remove if given is None else None)


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


async def discard_all(api: AsyncApi, sandbox_ids: Sequence[str]) -> None:
    """Destroys sandboxes after an error, without the commits of `auto_commit`."""
    for each in sandbox_ids:
        await _attempt(_discard, api, each)


async def _discard(api: AsyncApi, sandbox_id: str) -> None:
    try:
        await api.destroy_sandbox(sandbox_id=sandbox_id, discard=True)
    except NotFoundError:
        pass


async def _remove_codebase(api: AsyncApi, codebase_id: str) -> None:
    """Deletes a codebase with its sandboxes: also one whose creation was not answered, and that appears only now."""
    for attempt in range(1, _REMOVALS + 1):
        async for each in api.list_sandboxes(codebase_id=codebase_id):
            await _discard(api, each.id)
        try:
            return await api.delete_codebase(codebase_id=codebase_id)
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
