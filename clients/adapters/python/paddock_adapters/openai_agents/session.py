"""A session of the SDK: the life of its sandbox, and its commands."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union
from urllib.parse import urlsplit

from agents.sandbox import (
    ExecResult,
    ExecTimeoutError,
    ExecTransportError,
    ExposedPortEndpoint,
    ExposedPortUnavailableError,
    Manifest,
    User,
)
from agents.sandbox import SandboxError as AgentsSandboxError
from agents.sandbox.entries import BaseEntry
from agents.sandbox.errors import WorkspaceStartError, WorkspaceStopError
from agents.sandbox.materialization import MaterializationResult, MaterializedFile
from agents.sandbox.session import SandboxSession
from agents.sandbox.session.pty_types import (
    PtyExecUpdate,
    clamp_pty_yield_time_ms,
    resolve_pty_write_yield_time_ms,
    truncate_text_by_tokens,
)
from paddock_sandbox import (
    AsyncPaddock,
    AsyncSandbox,
    InvalidArgumentError,
    NotFoundError,
    FailedPreconditionError,
    PaddockError,
)

from ..shared import TooMuchOutput, run, settled
from .commands import Answer, Commands
from .errors import exec_error, output_error
from .files import SandboxFiles
from .state import ROOT, PaddockSandboxSessionState, assert_supported, refuse_user

#: Bytes of one stream of `exec`.
_EXEC_LIMIT = 10 * 1024 * 1024


class PaddockSandboxSession(SandboxFiles):
    """Has a sandbox from its start to its end."""

    state: PaddockSandboxSessionState

    def __init__(self, state: PaddockSandboxSessionState, connection: Mapping[str, Any]) -> None:
        self.state = state
        self._connection = connection
        self._client: Optional[AsyncPaddock] = None
        self._sandbox: Optional[AsyncSandbox] = None
        self._commands = Commands()
        #: Only the answer that opens a port has its token, and opening it again would cut its connections.
        self._endpoints: Dict[int, asyncio.Future[ExposedPortEndpoint]] = {}

    @property
    def sandbox(self) -> AsyncSandbox:
        if self._sandbox is None:
            raise WorkspaceStartError(
                path=Path(ROOT), message="the session has no sandbox: it was not started, or has ended"
            )
        return self._sandbox

    # The life of the sandbox.

    @property
    def _paddock(self) -> AsyncPaddock:
        if self._client is None:
            self._client = AsyncPaddock(**self._connection)
        return self._client

    async def _close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def reconnect(self) -> None:
        """Finds the sandbox of the state. Without it the start of the session makes another one."""
        try:
            if self.state.sandbox_id:
                self._sandbox = await self._paddock.sandboxes.get(self.state.sandbox_id)
        except NotFoundError:
            await self._delete_codebase()
        except PaddockError as error:
            raise self._wrap_start_error(error) from error
        if self._sandbox is None:
            self._forget()
            await self._close()
        self._set_start_state_preserved(self._sandbox is not None)

    async def start(self) -> None:
        before = self._sandbox
        try:
            await super().start()
        except BaseException:
            if self._sandbox is not before:
                with suppress(AgentsSandboxError):
                    await settled(asyncio.ensure_future(self._shutdown_backend()))
            raise

    async def _ensure_backend_started(self) -> None:
        if self._sandbox is not None:
            try:
                await self._sandbox.refresh()
            except NotFoundError:
                await self._shutdown_backend()
        if self._sandbox is None:
            self._set_start_state_preserved(False)
            await settled(asyncio.ensure_future(self._create()))
        elif self._sandbox.status != "running":
            await self._sandbox.resume()

    async def _create(self) -> None:
        options = self.state.options
        create = self._paddock.sandboxes.create
        if options.codebase_id is not None:
            self._sandbox = await create(codebase=options.codebase_id, **options.creation())
        else:
            self._sandbox = await create(name="openai-agents", **options.creation())
            self.state.codebase_id = self._sandbox.codebase_id
        self.state.sandbox_id = self._sandbox.id

    def _forget(self) -> None:
        self._sandbox = None
        self._endpoints.clear()
        self.state.sandbox_id = self.state.codebase_id = ""
        self.state.workspace_root_ready = False

    def _wrap_start_error(self, error: Exception) -> Exception:
        if not isinstance(error, PaddockError):
            return error
        context = {"backend": "paddock", "code": error.code}
        return WorkspaceStartError(path=Path(ROOT), context=context, cause=error, message=str(error))

    async def _shutdown_backend(self) -> None:
        """Destroys the sandbox. The codebase that was made for it stays if something was committed to it."""
        if self._sandbox is None:
            return
        try:
            with suppress(NotFoundError):
                await self._sandbox.api.destroy_sandbox(sandbox_id=self._sandbox.id)
            await self._delete_codebase()
            await self._close()
        except PaddockError as error:
            context = {"backend": "paddock", "code": error.code, "message": str(error)}
            raise WorkspaceStopError(path=Path(ROOT), context=context, cause=error) from error
        self._forget()

    async def _delete_codebase(self) -> None:
        if self.state.codebase_id:
            with suppress(NotFoundError, FailedPreconditionError):
                codebases = self._paddock.codebases
                codebase = await codebases.get(self.state.codebase_id)
                if codebase.file_count == 0 and not codebase.status_reason:
                    await codebases.delete(codebase.id)

    async def _persist_snapshot(self) -> None:
        # Without a sandbox there is nothing to keep: it was not started, or has ended.
        if self._sandbox is not None:
            await super()._persist_snapshot()

    async def running(self) -> bool:
        if self._sandbox is None:
            return False
        try:
            return (await self._sandbox.refresh()).status == "running"
        except NotFoundError:
            return False
        except PaddockError as error:
            raise exec_error(["running"], error) from error

    # Commands.

    def _prepare_exec_command(
        self, *command: Union[str, Path], shell: Union[bool, List[str]], user: Union[str, User, None]
    ) -> List[str]:
        refuse_user(user)
        return super()._prepare_exec_command(*command, shell=shell, user=None)

    async def _exec_internal(self, *command: Union[str, Path], timeout: Optional[float] = None) -> ExecResult:
        argv = [str(part) for part in command]
        env = await self.state.manifest.environment.resolve()
        try:
            ended = await run(self.sandbox, argv, env=env, timeout=timeout, limit=_EXEC_LIMIT)
        except TooMuchOutput as error:
            raise output_error(argv, error, _EXEC_LIMIT) from error
        except PaddockError as error:
            raise exec_error(argv, error) from error
        except TimeoutError as error:
            raise ExecTimeoutError(command=argv, timeout_s=timeout, cause=error) from error
        if ended.reason in ("sandbox_stopped", "sandbox_lost"):
            context = {"backend": "paddock", "reason": ended.reason}
            raise ExecTransportError(command=argv, context=context, message="the sandbox ended", retryable=False)
        return ExecResult(stdout=ended.stdout, stderr=ended.stderr, exit_code=ended.exit_code)

    async def _resolve_exposed_port(self, port: int) -> ExposedPortEndpoint:
        if port not in self._endpoints:
            self._endpoints[port] = asyncio.ensure_future(self._open(port))
        try:
            return await asyncio.shield(self._endpoints[port])
        except AgentsSandboxError:
            self._endpoints.pop(port, None)
            raise

    async def _open(self, port: int) -> ExposedPortEndpoint:
        try:
            opened = await self.sandbox.ports.open(port, access="link")
            url = urlsplit(opened.url)
            if url.hostname is not None:
                tls = url.scheme == "https"
                query = f"paddock_token={opened.link_token}"
                return ExposedPortEndpoint(url.hostname, url.port or (443 if tls else 80), tls, query)
            await self.sandbox.ports.close(port)
            cause, detail = None, "the URL would have a path: the server needs server.preview_domain"
        except PaddockError as error:
            cause, detail = error, str(error)
        raise ExposedPortUnavailableError(
            port=port,
            exposed_ports=self.state.exposed_ports,
            reason="backend_unavailable",
            context={"backend": "paddock", "detail": detail},
            cause=cause,
        )

    def supports_pty(self) -> bool:
        return True

    async def pty_exec_start(
        self,
        *command: Union[str, Path],
        timeout: Optional[float] = None,
        shell: Union[bool, List[str]] = True,
        user: Union[str, User, None] = None,
        tty: bool = False,
        yield_time_s: Optional[float] = None,
        max_output_tokens: Optional[int] = None,
    ) -> PtyExecUpdate:
        argv = self._prepare_exec_command(*command, shell=shell, user=user)
        env = await self.state.manifest.environment.resolve()
        seconds = clamp_pty_yield_time_ms(_milliseconds(yield_time_s, 10.0)) / 1000
        try:
            number, answer = await self._commands.start(
                self.sandbox, argv, env=env, tty=tty, timeout=timeout, seconds=seconds
            )
        except InvalidArgumentError as error:
            # The model may have written what no program can be given, for example a NUL.
            return PtyExecUpdate(process_id=None, output=str(error).encode(), exit_code=126, original_token_count=None)
        except PaddockError as error:
            raise exec_error(argv, error) from error
        return _update(number, answer, max_output_tokens)

    async def pty_write_stdin(
        self,
        *,
        session_id: int,
        chars: str,
        yield_time_s: Optional[float] = None,
        max_output_tokens: Optional[int] = None,
    ) -> PtyExecUpdate:
        milliseconds = _milliseconds(yield_time_s, 0.25)
        seconds = resolve_pty_write_yield_time_ms(yield_time_ms=milliseconds, input_empty=chars == "") / 1000
        try:
            number, answer = await self._commands.write(session_id, chars, seconds)
        except PaddockError as error:
            raise exec_error(["write_stdin"], error) from error
        return _update(number, answer, max_output_tokens)

    async def pty_terminate_all(self) -> None:
        await self._commands.end()

    async def _validate_manifest_application(
        self,
        *,
        only_ephemeral: bool = False,
        manifest: Optional[Manifest] = None,
        session_running: Optional[bool] = None,
    ) -> None:
        assert_supported(manifest or self.state.manifest)
        await super()._validate_manifest_application(
            only_ephemeral=only_ephemeral, manifest=manifest, session_running=session_running
        )


class PaddockSession(SandboxSession):
    """What `PaddockSandboxClient` returns. `sandbox` is the sandbox, of the public client of paddock."""

    _inner: PaddockSandboxSession

    @property
    def sandbox(self) -> AsyncSandbox:
        return self._inner.sandbox

    # Of the inner session, which applies entries of manifests as the owner of the sandbox.

    async def _apply_manifest(
        self, *, only_ephemeral: bool = False, provision_accounts: bool = True
    ) -> MaterializationResult:
        return await self._inner._apply_manifest(only_ephemeral=only_ephemeral, provision_accounts=provision_accounts)

    async def _apply_entry_batch(
        self, entries: Sequence[Tuple[Path, BaseEntry]], *, base_dir: Path
    ) -> List[MaterializedFile]:
        return await self._inner._apply_entry_batch(entries, base_dir=base_dir)


def _milliseconds(seconds: Optional[float], default: float) -> int:
    return int((default if seconds is None else seconds) * 1000)


def _update(number: Optional[int], answer: Answer, max_output_tokens: Optional[int]) -> PtyExecUpdate:
    text, end = answer
    output, tokens = truncate_text_by_tokens(text, max_output_tokens)
    return PtyExecUpdate(
        process_id=number,
        output=output.encode(errors="replace"),
        exit_code=None if end is None else end.exit_code,
        original_token_count=tokens,
    )
