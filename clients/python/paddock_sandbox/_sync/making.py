# Generated from _async/making.py by `npm run generate`; do not edit.
"""Makes codebases and sandboxes, and removes what was made if the caller does not get it."""

from __future__ import annotations

import os
import uuid
from typing import Any, Callable, Optional, Sequence, Tuple, TypeVar, Union, cast

from .._arguments import require_arguments
from .._rules import with_preset
from ..errors import FailedPreconditionError, NotFoundError, PaddockError
from ..messages import Codebase, Sandbox
from ..options import SandboxOptions, UploadOptions
from ..requests import CallOptions, CreateSandboxRequest
from .api import Api
from .codebases import Codebases
from .concurrency import sleep

R = TypeVar("R", Codebase, Sandbox)
#: How often the removal of a codebase is tried, while sandboxes are still made on it.
_REMOVALS = 5


#: Options that are no fields of the new sandbox.
_OWN = frozenset(SandboxOptions.__annotations__) - frozenset(CreateSandboxRequest.__annotations__)


def made(
    api: Api, directory: Union[str, "os.PathLike[str]", None], codebase_id: Optional[str], options: SandboxOptions
) -> Tuple[Sandbox, bool]:
    """A new sandbox, and whether its codebase is to be deleted with it: both or none."""
    request = cast(CreateSandboxRequest, {k: v for k, v in with_preset(options).items() if k not in _OWN})
    # A mistake among the options is found before anything is made.
    require_arguments("CreateSandbox", {**request, "codebase_id": "-"})
    call: CallOptions = {"timeout": options.get("timeout"), "max_retries": options.get("max_retries")}
    if codebase_id is not None:
        return _created(api, codebase_id, request), False

    def create(key: str) -> Codebase:
        name = options.get("name") or ("sandbox" if directory is None else _name_of(directory))
        return api.create_codebase(name=name, owner_id=options.get("owner_id"), idempotency_key=key, **call)

    def remove(made_id: str) -> None:
        api.delete_codebase(codebase_id=made_id)

    codebase = _made(create, remove)
    try:
        if directory is not None:
            # What the service refuses, it refuses before the upload.
            api.create_sandbox(codebase_id=codebase.id, validate_only=True, **request)
            upload = cast(UploadOptions, {k: v for k, v in options.items() if k in UploadOptions.__annotations__})
            Codebases(api).upload(codebase.id, directory, **upload)
        info = _created(api, codebase.id, request)
    except BaseException:
        _attempt(_remove_codebase, api, codebase.id)
        raise
    return info, not options.get("keep_codebase") and options.get("auto_commit") in (None, "", "never")


def _name_of(directory: Union[str, "os.PathLike[str]"]) -> str:
    name = os.path.basename(os.path.realpath(directory)) or "root"
    return name.encode("utf-8", "replace").decode()[:255]


def _created(api: Api, codebase_id: str, request: CreateSandboxRequest) -> Sandbox:
    """A new sandbox, or none."""
    given = request.get("idempotency_key")

    def create(key: str) -> Sandbox:
        keyed: CreateSandboxRequest = {**request, "idempotency_key": given or key}
        return api.create_sandbox(codebase_id=codebase_id, **keyed)

    def remove(made_id: str) -> None:
        api.destroy_sandbox(sandbox_id=made_id)

    # With a key of the caller's the sandbox may be that of an earlier call.
    return _made(create, remove if given is None else None)


def _made(
    create: Callable[[str], R], remove: Optional[Callable[[str], None]]
) -> R:
    """What `create` makes with an idempotency key.

    If the caller is interrupted meanwhile, the service may have made it, or make it yet: the same request again is
    answered with it, and it is removed.
    """
    key = str(uuid.uuid4())
    try:
        return create(key)
    except Exception:
        raise
    except BaseException:
        if remove is not None:
            _attempt(_remade, create, remove, key)
        raise


def _remade(
    create: Callable[[str], R], remove: Callable[[str], None], key: str
) -> None:
    remove((create(key)).id)


def discard_all(api: Api, sandbox_ids: Sequence[str]) -> None:
    """Destroys sandboxes after an error, without the commits of `auto_commit`."""
    for each in sandbox_ids:
        _attempt(_discard, api, each)


def _discard(api: Api, sandbox_id: str) -> None:
    try:
        api.destroy_sandbox(sandbox_id=sandbox_id, discard=True)
    except NotFoundError:
        pass


def _remove_codebase(api: Api, codebase_id: str) -> None:
    """Deletes a codebase with its sandboxes: also one whose creation was not answered, and that appears only now."""
    for attempt in range(1, _REMOVALS + 1):
        for each in api.list_sandboxes(codebase_id=codebase_id):
            _discard(api, each.id)
        try:
            return api.delete_codebase(codebase_id=codebase_id)
        except FailedPreconditionError:
            if attempt == _REMOVALS:
                raise
        sleep(0.1 * attempt)


def _attempt(cleanup: Callable[..., None], *arguments: Any) -> None:
    """Cleans up after an error, which is the one that the caller gets."""
    try:
        cleanup(*arguments)
    except PaddockError:
        pass
