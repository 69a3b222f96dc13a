"""A sandbox environment for Inspect (inspect-ai 0.3.285): import this module, and use `Task(sandbox="paddock")`.

`sandbox=("paddock", "./project")` gives each sample the files of a directory, which is uploaded once for a task, and
`SandboxEnvironmentSpec("paddock", PaddockConfig(...))` more. The server is that of PADDOCK_URL and PADDOCK_KEY.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Union, overload

from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxConnection,
    SandboxEnvironment,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    sandboxenv,
)
from paddock_sandbox import (
    AsyncPaddock,
    AsyncSandbox,
    NotFoundError,
    FailedPreconditionError,
    PaddockError,
    UnavailableError,
)
from pydantic import BaseModel
from typing_extensions import override

from .shared import TooMuchOutput, read_file, run, write_file

LABEL = "inspect-task"
_CODEBASE = "inspect"
# The sandbox does not exist, does not run, or has ended meanwhile.
_GONE = (NotFoundError, FailedPreconditionError, UnavailableError)
_RETRY_SECONDS = (60, 30)


class PaddockConfig(BaseModel, frozen=True):
    """Files and rules of the samples' sandboxes.

    Attributes:
        directory: Local directory whose files the sandboxes start with.
        preset: Rules by name; None: as in the client.
        rules: Rules in the short form: `{"write": ["src"], "none": ["**/.env*"]}`.
        image: Image of the sandboxes.
        env: Environment variables of all commands.
        network: What the commands can connect to: `{"mode": "allow_list", "presets": ["pypi"]}`; None: nothing.
    """

    directory: Optional[str] = None
    preset: Optional[str] = None
    rules: Optional[Dict[str, List[str]]] = None
    image: Optional[str] = None
    env: Optional[Dict[str, str]] = None
    network: Optional[Dict[str, Any]] = None

    def __hash__(self) -> int:
        # Inspect keeps configurations in sets; that of pydantic cannot hash dictionaries.
        return hash(self.model_dump_json())


Config = Union[BaseModel, str, None]
# The codebases of a configuration. Its samples share the last one; each set-up of tasks makes one, and its end deletes one.
_codebases: Dict[str, List[str]] = {}


def _config(config: Config) -> PaddockConfig:
    if isinstance(config, str):
        return PaddockConfig(directory=config)
    if config is None:
        return PaddockConfig()
    if not isinstance(config, PaddockConfig):
        raise TypeError(f"the configuration must be a PaddockConfig or the path of a directory, not {config!r}")
    return config


@sandboxenv(name="paddock")
class PaddockSandboxEnvironment(SandboxEnvironment):
    """A sandbox of its own for each sample. Everything in it obeys its rules."""

    def __init__(self, sandbox: AsyncSandbox) -> None:
        super().__init__()
        self.sandbox = sandbox

    @override
    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        if user is not None:
            raise SandboxUserUnsupportedError(f"a sandbox of paddock has one user, and cannot run commands as {user}")
        timeouts = [timeout]
        if timeout is not None and timeout_retry:
            timeouts += [min(timeout, seconds) for seconds in _RETRY_SECONDS]
        for attempt in timeouts[:-1]:
            try:
                return await self._exec(cmd, input, cwd, env, attempt)
            except TimeoutError:
                continue
        return await self._exec(cmd, input, cwd, env, timeouts[-1])

    async def _exec(
        self,
        cmd: list[str],
        input: str | bytes | None,
        cwd: str | None,
        env: dict[str, str] | None,
        timeout: int | None,
    ) -> ExecResult[str]:
        stdin = input.encode() if isinstance(input, str) else input
        limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        try:
            ended = await run(self.sandbox, cmd, stdin=stdin, cwd=cwd, env=env, timeout=timeout, limit=limit)
        except TooMuchOutput as error:
            beginning = error.beginning.decode(errors="replace")
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, beginning) from None
        except _GONE as error:
            raise SandboxUnavailableError(str(error)) from error
        stdout, stderr = ended.stdout.decode(errors="replace"), ended.stderr.decode(errors="replace")
        if ended.exit_code == 126 and "permission denied" in stderr.lower():
            raise PermissionError(f"Permission denied executing {cmd[0]}")
        return ExecResult(ended.exit_code == 0, ended.exit_code, stdout, stderr)

    @override
    async def write_file(self, file: str, contents: str | bytes) -> None:
        try:
            await write_file(self.sandbox, file, contents.encode() if isinstance(contents, str) else contents)
        except _GONE as error:
            raise SandboxUnavailableError(str(error)) from error

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    @override
    async def read_file(self, file: str, text: bool = True) -> Union[str, bytes]:
        try:
            content = await read_file(self.sandbox, file, SandboxEnvironmentLimits.MAX_READ_FILE_SIZE)
        except TooMuchOutput:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None) from None
        except _GONE as error:
            raise SandboxUnavailableError(str(error)) from error
        return content.decode() if text else content

    @override
    async def connection(self, *, user: str | None = None) -> SandboxConnection:
        if user is not None:
            raise SandboxUserUnsupportedError(f"a sandbox of paddock has one user, and no shell for {user}")
        try:
            await self.sandbox.refresh()
        except PaddockError as error:
            raise ConnectionError(str(error)) from error
        if self.sandbox.status != "running":
            raise ConnectionError(f"the sandbox {self.sandbox.id} does not run")
        # Its ports have URLs (`sandbox.ports.open`), which are no ports of this machine: `ports` is for these.
        return SandboxConnection(type="paddock", command=f"paddock sh {self.sandbox.id}")

    @classmethod
    @override
    def default_concurrency(cls) -> int | None:
        # Below the server's default of 10 sandboxes for each owner.
        return 8

    @classmethod
    @override
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        return PaddockConfig(**config)

    @classmethod
    @override
    async def task_init(cls, task_name: str, config: Config) -> None:
        chosen = _config(config)
        async with AsyncPaddock() as client:
            codebase = await client.codebases.create(_CODEBASE)
            if chosen.directory is not None:
                try:
                    await client.codebases.upload(codebase.id, chosen.directory)
                except BaseException:
                    await client.codebases.delete(codebase.id)
                    raise
        _codebases.setdefault(chosen.model_dump_json(), []).append(codebase.id)

    @classmethod
    @override
    async def sample_init(cls, task_name: str, config: Config, metadata: dict[str, str]) -> dict[str, SandboxEnvironment]:
        chosen = _config(config)
        sandbox = await AsyncSandbox.create(
            codebase=_codebases[chosen.model_dump_json()][-1],
            preset=chosen.preset,
            rules=chosen.rules,
            image=chosen.image,
            env=chosen.env,
            network=chosen.network,
            labels={LABEL: task_name},
        )
        return {"default": cls(sandbox)}

    @classmethod
    @override
    async def sample_cleanup(
        cls, task_name: str, config: Config, environments: dict[str, SandboxEnvironment], interrupted: bool
    ) -> None:
        for environment in environments.values():
            sandbox = environment.as_type(PaddockSandboxEnvironment).sandbox
            try:
                await sandbox.destroy()
            except NotFoundError:
                await sandbox.close()

    @classmethod
    @override
    async def task_cleanup(cls, task_name: str, config: Config, cleanup: bool) -> None:
        codebases = _codebases.get(_config(config).model_dump_json(), [])
        if not codebases or not cleanup:
            return
        async with AsyncPaddock() as client:
            await _delete_codebase(client, codebases.pop())

    @classmethod
    @override
    async def cli_cleanup(cls, id: str | None) -> None:
        async with AsyncPaddock() as client:
            async for sandbox in client.sandboxes.list():
                if LABEL in sandbox.info.labels and id in (None, sandbox.id):
                    await sandbox.destroy()
                    await _delete_codebase(client, sandbox.codebase_id)


async def _delete_codebase(client: AsyncPaddock, codebase_id: str) -> None:
    """One that `task_init` made and no sandbox uses any more."""
    try:
        if (await client.codebases.get(codebase_id)).name == _CODEBASE:
            await client.codebases.delete(codebase_id)
    except (NotFoundError, FailedPreconditionError):
        pass
