# Generated from _async/sandbox.py by `npm run generate`; do not edit.
"""A sandbox, from a local directory or a codebase."""

from __future__ import annotations

import os
import ssl
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from .._duration import Duration
from .._error_of import error_of
from ..messages import NetworkPolicy, ResourceLimits, Runtime, SecretBinding
from ..presets import Rule, ShortRules, creation_preset
from ..utils import generate_codebase_name
from .client import SandboxClient
from .ending import EndingMethods
from .making import created, discard_all, uploaded


class Sandbox(EndingMethods):
    """A sandbox.

    Made by `create`, `from_local`, `from_codebase`, `connect` or `fork`, not by its constructor. As a context manager
    it destroys what it has created at its end: the sandbox, the connection, and the codebase of `from_local`, which
    stays if it may hold work: after `commit` or `fork` of this object, or with `auto_commit`.
    """

    @classmethod
    def create(
        cls,
        path: Union[str, "os.PathLike[str]", None] = None,
        codebase_id: Optional[str] = None,
        **options: Any,
    ) -> Sandbox:
        """Creates a sandbox with the files of a directory or of a codebase, or without files.

        The options are those of `from_local`, or of `from_codebase`.
        """
        if codebase_id is None:
            return cls.from_local(path, **options)
        if path is not None:
            raise ValueError("path and codebase_id exclude each other")
        return cls.from_codebase(codebase_id, **options)

    @classmethod
    def from_local(
        cls,
        path: Union[str, "os.PathLike[str]", None],
        preset: Optional[str] = None,
        permissions: Optional[Sequence[Rule]] = None,
        runtime: Union[Runtime, str, None] = None,
        image: Optional[str] = None,
        resources: Optional[ResourceLimits] = None,
        endpoint: Optional[str] = None,
        secure: bool = False,
        owner_id: Optional[str] = None,
        codebase_name: Optional[str] = None,
        ignore_patterns: Optional[Sequence[str]] = None,
        labels: Optional[Mapping[str, str]] = None,
        auto_start: bool = True,
        *,
        rules: Optional[ShortRules] = None,
        gitignore: bool = False,
        git: bool = True,
        hooks: bool = False,
        expires_in: Duration = None,
        env: Optional[Mapping[str, str]] = None,
        shell: Optional[str] = None,
        workdir: Optional[str] = None,
        auto_commit: Optional[str] = None,
        network: Optional[NetworkPolicy] = None,
        secrets: Optional[Sequence[SecretBinding]] = None,
        client: Optional[SandboxClient] = None,
        url: Optional[str] = None,
        key: Optional[str] = None,
        ca_file: Optional[str] = None,
        tls: Optional[ssl.SSLContext] = None,
        timeout: Duration = "5m",
        connect_timeout: Duration = "10s",
        attempts: int = 4,
    ) -> Sandbox:
        """Uploads a directory into a new codebase and creates a sandbox on it, which runs when this returns.

        Nothing is left on the service if it fails. The result owns the sandbox and the codebase.

        Args:
            path: Local directory. ValueError if it is none. None: a sandbox without files.
            preset: Rules: "agent-safe", "development", "read-only", "full-access", "view-only" or one of your own;
                "none": only those of `permissions` or `rules`. None: "development", or "agent-safe" with rules.
            permissions: Rules in addition to those of the preset.
            runtime: Mechanism that isolates the sandbox; None: the server's default.
            image: Image of the sandbox.
            resources: Limits of the sandbox.
            endpoint: See `SandboxClient`, also for url, key, ca_file, tls, timeout, connect_timeout and attempts.
            secure: https, if `endpoint` names no scheme.
            owner_id: Owner; only admins may name another than the key's own.
            codebase_name: Name of the codebase; None: that of the directory.
            ignore_patterns: What not to upload; see `upload_directory`, also for gitignore, git and hooks.
            labels: Labels of the sandbox.
            auto_start: False: stop the sandbox again.
            rules: Rules in a short form: `{"write": ["src"], "none": ["**/.env*"]}`.
            gitignore: Do not upload what git ignores.
            git: Upload the directories `.git`.
            hooks: Upload git's hooks, too.
            expires_in: Time until the sandbox expires.
            env: Environment variables of all its commands.
            shell: Shell of its commands.
            workdir: Working directory of its commands.
            auto_commit: "never", "on_exec" or "on_stop"; with the last two the codebase stays.
            network: What its commands can connect to; None: nothing.
            secrets: Secrets of the owner that its commands use, by placeholders.
            client: A client to use, which stays open afterwards; None: one of its own.
        """
        if path is not None and not os.path.isdir(path):
            raise ValueError(f"not a directory: {os.fspath(path)}")
        upload = {"ignore_patterns": ignore_patterns, "gitignore": gitignore, "git": git, "hooks": hooks}
        creation = {
            "preset": preset,
            "permissions": permissions,
            "rules": rules,
            "runtime": runtime,
            "image": image,
            "resources": resources,
            "labels": labels,
            "expires_in": expires_in,
            "env": env,
            "shell": shell,
            "workdir": workdir,
            "auto_commit": auto_commit,
            "network": network,
            "secrets": secrets,
        }
        creation["preset"] = creation_preset(creation)
        own = client is None
        used = client or SandboxClient(
            endpoint, secure, url=url, key=key, ca_file=ca_file, tls=tls,
            timeout=timeout, connect_timeout=connect_timeout, attempts=attempts,
        )  # fmt: skip
        name = codebase_name or ("sandbox" if path is None else generate_codebase_name(path))
        return cls._uploaded(used, own, path, name, owner_id, upload, creation, auto_start)

    @classmethod
    def _uploaded(
        cls,
        client: SandboxClient,
        own: bool,
        path: Union[str, "os.PathLike[str]", None],
        name: str,
        owner_id: Optional[str],
        upload: Dict[str, Any],
        creation: Dict[str, Any],
        auto_start: bool,
    ) -> Sandbox:
        try:
            codebase, info = uploaded(client, path, name, owner_id, upload, creation, auto_start)
        except BaseException:
            if own:
                client.close()
            raise
        commits = creation["auto_commit"] not in (None, "", "never")
        return cls(client, info, codebase, owns_client=own, owns_codebase=not commits, owns_sandbox=True)

    @classmethod
    def from_codebase(
        cls,
        codebase_id: str,
        preset: Optional[str] = None,
        permissions: Optional[Sequence[Rule]] = None,
        runtime: Union[Runtime, str, None] = None,
        image: Optional[str] = None,
        resources: Optional[ResourceLimits] = None,
        endpoint: Optional[str] = None,
        secure: bool = False,
        labels: Optional[Mapping[str, str]] = None,
        auto_start: bool = True,
        *,
        rules: Optional[ShortRules] = None,
        client: Optional[SandboxClient] = None,
        url: Optional[str] = None,
        key: Optional[str] = None,
        ca_file: Optional[str] = None,
        tls: Optional[ssl.SSLContext] = None,
        timeout: Duration = "5m",
        connect_timeout: Duration = "10s",
        attempts: int = 4,
        **creation: Any,
    ) -> Sandbox:
        """Creates a sandbox on a codebase, which stays when the sandbox is destroyed.

        The arguments are those of `from_local`; further ones (`creation`) those of `create_sandbox`.
        """
        fields = {
            "preset": preset,
            "permissions": permissions,
            "rules": rules,
            "runtime": runtime,
            "image": image,
            "resources": resources,
            "labels": labels,
            **creation,
        }
        fields["preset"] = creation_preset(fields)
        own = client is None
        used = client or SandboxClient(
            endpoint, secure, url=url, key=key, ca_file=ca_file, tls=tls,
            timeout=timeout, connect_timeout=connect_timeout, attempts=attempts,
        )  # fmt: skip
        return cls._on(used, own, codebase_id, fields, auto_start)

    @classmethod
    def _on(
        cls, client: SandboxClient, own: bool, codebase_id: str, fields: Dict[str, Any], auto_start: bool
    ) -> Sandbox:
        try:
            codebase = client.get_codebase(codebase_id)
            info = created(client, codebase_id, fields, auto_start)
        except BaseException:
            if own:
                client.close()
            raise
        return cls(client, info, codebase, owns_client=own, owns_codebase=False, owns_sandbox=True)

    @classmethod
    def connect(
        cls,
        sandbox_id: str,
        endpoint: Optional[str] = None,
        secure: bool = False,
        *,
        client: Optional[SandboxClient] = None,
        **connection: Any,
    ) -> Sandbox:
        """An existing sandbox. As a context manager the result only closes its connection; `destroy` destroys."""
        own = client is None
        used = client or SandboxClient(endpoint, secure, **connection)
        return cls._existing(used, own, sandbox_id)

    @classmethod
    def _existing(cls, client: SandboxClient, own: bool, sandbox_id: str) -> Sandbox:
        try:
            info = client.get_sandbox(sandbox_id)
        except BaseException:
            if own:
                client.close()
            raise
        return cls(client, info, None, owns_client=own, owns_codebase=False, owns_sandbox=False)

    def fork(self, count: int = 1, **options: Any) -> List[Sandbox]:
        """Creates sandboxes with the present files of this one; see `fork` of the client for the options.

        The caller destroys each. They use this sandbox's connection: close it last. If one cannot be created, those
        that were are destroyed, and its error is raised. The codebase stays when this sandbox is destroyed: the forks
        may commit to it.
        """
        self._owns_codebase = False
        answer = self._client.fork(self.id, count, **options)
        made = [
            type(self)(self._client, each.sandbox, self._codebase, owns_sandbox=True)
            for each in answer.results
            if each.sandbox is not None
        ]
        error = next((each.error for each in answer.results if each.error is not None), None)
        if error is not None:
            discard_all(self._client, [each.id for each in made])
            raise error_of({"code": error.code, "message": error.message}, "Fork", {"sandbox_id": self.id})
        return made

    def start(self) -> Sandbox:
        """Starts the sandbox. Changes nothing if it runs."""
        self._info = self._client.start_sandbox(self.id)
        return self

    def stop(self) -> Sandbox:
        """Ends every process and keeps the files. Changes nothing if it is stopped."""
        self._info = self._client.stop_sandbox(self.id)
        return self

    def refresh(self) -> Sandbox:
        """Asks the service for `info` and `status`."""
        self._info = self._client.get_sandbox(self.id)
        return self

    def __enter__(self) -> Sandbox:
        return self
