# Generated from _async/administration.py by `npm run generate`; do not edit.
"""Images, keys and secrets of a server. Most of their operations need a key of role admin or owner."""

from __future__ import annotations

from typing import Generator, Sequence, Unpack

from .._arguments import known_options
from .._http import Content
from ..errors import ConnectionFailedError
from ..messages import CreatedKey, Image, Key, Secret
from ..requests import (
    CallOptions,
    CreateKeyRequest,
    DeleteSecretRequest,
    GetSecretRequest,
    ListKeysRequest,
    ListSecretsRequest,
    PutSecretRequest,
)
from .api import Api


@known_options
class Images:
    """File systems for sandboxes, in place of the host's."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def import_archive(self, name: str, archive: Content, **options: Unpack[CallOptions]) -> Image:
        """Stores an image: a tar of a file system, an OCI layout, or what `docker save` writes. Admins only."""
        return self._api.import_image(archive, name=name, **options)

    def get(self, image: str, **options: Unpack[CallOptions]) -> Image:
        """One image by its name or id."""
        return self._api.get_image(image=image, **options)

    def list(self, **options: Unpack[CallOptions]) -> Generator[Image, None, None]:
        """All images by id."""
        return self._api.list_images(**options)

    def delete(self, image: str, **options: Unpack[CallOptions]) -> None:
        """Deletes an image with all its names. `FailedPreconditionError` while sandboxes use it. Admins only."""
        self._api.delete_image(image=image, **options)


@known_options
class Keys:
    """Keys of callers."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def create(self, name: str, role: str = "owner", **options: Unpack[CreateKeyRequest]) -> CreatedKey:
        """Creates a key. `secret` of the answer is shown this once.

        `role`: "admin", "owner", or "agent" with the one sandbox that it may use.

        If the answer with the secret is lost, that key is revoked and another one created. With an `idempotency_key` of
        yours this is left to you: `secret` is empty then, and `notice` says why.
        """
        for _ in range(2):
            created = self._api.create_key(name=name, role=role, **options)
            if created.secret or created.key is None or options.get("idempotency_key") is not None:
                return created
            self.revoke(created.key.id)
        raise ConnectionFailedError("the answer with the secret of the new key was lost twice; both keys are revoked")

    def list(self, **options: Unpack[ListKeysRequest]) -> Generator[Key, None, None]:
        """Keys without their secrets."""
        return self._api.list_keys(**options)

    def revoke(self, key_id: str, **options: Unpack[CallOptions]) -> None:
        """Revokes a key. Calls in progress with it end with `UnauthenticatedError`."""
        self._api.revoke_key(key_id=key_id, **options)


@known_options
class Secrets:
    """Values that commands use by placeholders. No answer ever has a value."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def put(
        self, name: str, value: str, hosts: Sequence[str], **options: Unpack[PutSecretRequest]
    ) -> Secret:
        """Stores or replaces a secret. `hosts`: where the value may be sent."""
        return self._api.put_secret(name=name, value=value, hosts=hosts, **options)

    def get(self, name: str, **options: Unpack[GetSecretRequest]) -> Secret:
        """A secret without its value."""
        return self._api.get_secret(name=name, **options)

    def list(self, **options: Unpack[ListSecretsRequest]) -> Generator[Secret, None, None]:
        """Secrets without their values."""
        return self._api.list_secrets(**options)

    def delete(self, name: str, **options: Unpack[DeleteSecretRequest]) -> None:
        """Removes a secret. `force`: although sandboxes are bound to it."""
        self._api.delete_secret(name=name, **options)
