# Generated from _async/making.py by `npm run generate`; do not edit.
"""Makes codebases and sandboxes, and removes what was made if the caller does not get it."""

from __future__ import annotations

import os
import uuid
from typing import Any, Callable, Dict, Optional, Sequence, Tuple, TypeVar, Union

from ..errors import NotFoundError, FailedPreconditionError, PaddockError
from ..messages import Codebase, Sandbox
from .client import SandboxClient
from .concurrency import sleep

R = TypeVar("R", Codebase, Sandbox)
#: How often the removal of a codebase is tried, while sandboxes are still made on it.
_REMOVALS = 5


def uploaded(
    client: SandboxClient,
    path: Union[str, "os.PathLike[str]", None],
    name: str,
    owner_id: Optional[str],
    upload: Dict[str, Any],
    fields: Dict[str, Any],
    auto_start: bool,
) -> Tuple[Codebase, Sandbox]:
    """A new codebase with the files of a directory, if there is one, and a sandbox on it: both or none."""

    def create(key: str) -> Codebase:
        return client.create_codebase(name, owner_id, idempotency_key=key)

    codebase = _made(create, client.delete_codebase)
    try:
        if path is not None:
            # What the service refuses, it refuses before the upload.
            client.create_sandbox(codebase.id, **{**fields, "validate_only": True})
            client.upload_directory(codebase.id, path, **upload)
        return codebase, created(client, codebase.id, fields, auto_start)
    except BaseException:
        _attempt(_remove_codebase, client, codebase.id)
        raise


def created(
    client: SandboxClient, codebase_id: str, fields: Dict[str, Any], auto_start: bool
) -> Sandbox:
    """A new sandbox, or none."""

    given = fields.get("idempotency_key")

    def create(key: str) -> Sandbox:
        return client.create_sandbox(codebase_id, **{**fields, "idempotency_key": given or key})

    # With a key of the caller's the sandbox may be that of an earlier call.
    remove = client.destroy_sandbox if given is None else None
    info = _made(create, remove)
    if auto_start:
        return info
    try:
        return client.stop_sandbox(info.id)
    except BaseException:
        if remove is not None:
            _attempt(remove, info.id)
        raise


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


def discard_all(client: SandboxClient, sandbox_ids: Sequence[str]) -> None:
    """Destroys sandboxes after an error, without the commits of `auto_commit`."""
    for each in sandbox_ids:
        _attempt(_discard, client, each)


def _discard(client: SandboxClient, sandbox_id: str) -> None:
    try:
        client.destroy_sandbox(sandbox_id, discard=True)
    except NotFoundError:
        pass


def _remove_codebase(client: SandboxClient, codebase_id: str) -> None:
    """Deletes a codebase with its sandboxes: also one whose creation was not answered, and that appears only now."""
    for attempt in range(1, _REMOVALS + 1):
        for each in client.list_sandboxes(codebase_id):
            _discard(client, each.id)
        try:
            return client.delete_codebase(codebase_id)
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
