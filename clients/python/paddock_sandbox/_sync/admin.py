# Generated from _async/admin.py by `npm run generate`; do not edit.
"""Operations on images, secrets, keys and limits."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence

from .._duration import Duration, seconds
from .._http import body_of
from ..errors import ConnectionFailedError
from ..messages import Caller, CreatedKey, Image, Key, OwnerLimits, OwnerSettings, Secret, Ticket
from .codebases import CodebaseOperations


class AdminOperations(CodebaseOperations):
    """Operations on images, secrets, keys and limits. Most of them need a key of role admin or owner."""

    def import_image(self, name: str, archive: Any) -> Image:
        """Stores an image: a tar of a file system, an OCI layout, or what `docker save` writes. Admins only."""
        return self._message(Image, "ImportImage", {"name": name}, body=body_of(archive), timeout=None)

    def get_image(self, image: str) -> Image:
        """One image by its name or id."""
        return self._message(Image, "GetImage", {"image": image})

    def list_images(self) -> List[Image]:
        """All images by id."""
        return self._all(Image, "ListImages", "images", {})

    def delete_image(self, image: str) -> None:
        """Deletes an image with all its names. `FailedPreconditionError` while sandboxes use it. Admins only."""
        self._call("DeleteImage", {"image": image})

    def create_key(
        self,
        name: str,
        role: str = "owner",
        *,
        owner_id: Optional[str] = None,
        sandbox_id: Optional[str] = None,
        scopes: Optional[Sequence[str]] = None,
        expires_in: Duration = None,
        idempotency_key: Optional[str] = None,
    ) -> CreatedKey:
        """Creates a key. `secret` of the answer is shown this once.

        `role`: "admin", "owner", or "agent" with the one sandbox that it may use.

        If the answer with the secret is lost, that key is revoked and another one created. With an `idempotency_key` of
        yours this is left to you: `secret` is empty then, and `notice` says why.
        """
        fields = {
            "name": name,
            "role": role,
            "owner_id": owner_id,
            "sandbox_id": sandbox_id,
            "scopes": None if scopes is None else list(scopes),
            "expires_in": None if expires_in is None else seconds("expires_in", expires_in),
        }
        created = self._message(CreatedKey, "CreateKey", fields, key=idempotency_key)
        if created.secret or created.key is None or idempotency_key is not None:
            return created
        self.revoke_key(created.key.id)
        created = self._message(CreatedKey, "CreateKey", fields)
        if not created.secret and created.key is not None:
            self.revoke_key(created.key.id)
            raise ConnectionFailedError(
                "the answer with the secret of the new key was lost twice; both keys are revoked"
            )
        return created

    def list_keys(self, owner_id: Optional[str] = None) -> List[Key]:
        """Keys without their secrets."""
        return self._all(Key, "ListKeys", "keys", {"owner_id": owner_id})

    def revoke_key(self, key_id: str) -> None:
        """Revokes a key. Calls in progress with it end with `UnauthenticatedError`."""
        self._call("RevokeKey", {"key_id": key_id})

    def get_caller(self) -> Caller:
        """The rights of the caller itself."""
        return self._message(Caller, "GetCaller", {})

    def create_ticket(self, path: str) -> Ticket:
        """A ticket for one GET request without headers: `path` is that of its URL, with the query."""
        return self._message(Ticket, "CreateTicket", {"path": path})

    def put_secret(
        self,
        name: str,
        value: str,
        hosts: Sequence[str],
        *,
        parts: Optional[Sequence[str]] = None,
        shape: Optional[str] = None,
        keep_length: Optional[bool] = None,
        header: Optional[str] = None,
        owner_id: Optional[str] = None,
    ) -> Secret:
        """Stores or replaces a secret, which commands use by a placeholder. No answer ever has its value.

        `hosts`: where the value may be sent. `parts`: where the placeholder is replaced: "header", "query", "body".
        `header`: the one header that gets the value, in lower case.
        """
        fields = {
            "name": name,
            "value": value,
            "hosts": list(hosts),
            "parts": None if parts is None else list(parts),
            "shape": shape,
            "keep_length": keep_length,
            "header": header,
            "owner_id": owner_id,
        }
        return self._message(Secret, "PutSecret", fields)

    def get_secret(self, name: str, owner_id: Optional[str] = None) -> Secret:
        """A secret without its value."""
        return self._message(Secret, "GetSecret", {"name": name, "owner_id": owner_id})

    def list_secrets(self, owner_id: Optional[str] = None) -> List[Secret]:
        """Secrets without their values."""
        return self._all(Secret, "ListSecrets", "secrets", {"owner_id": owner_id})

    def delete_secret(self, name: str, *, force: Optional[bool] = None, owner_id: Optional[str] = None) -> None:
        """Removes a secret. `force`: although sandboxes are bound to it."""
        self._call("DeleteSecret", {"name": name, "force": force, "owner_id": owner_id})

    def get_owner_limits(self, owner_id: str) -> OwnerSettings:
        """The limits of an owner."""
        return self._message(OwnerSettings, "GetOwnerLimits", {"owner_id": owner_id})

    def set_owner_limits(self, owner_id: str, limits: OwnerLimits) -> OwnerSettings:
        """Replaces the limits of an owner that differ from the configured ones. Admins only."""
        return self._message(OwnerSettings, "SetOwnerLimits", {"owner_id": owner_id, "limits": limits})

    def health(self) -> bool:
        """True if the service accepts calls; otherwise an error."""
        self._call("Health", {})
        return True
