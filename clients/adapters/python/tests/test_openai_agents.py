"""Sessions of the OpenAI Agents SDK, and runs with a scripted model."""

import asyncio
import io
import json
import re
import tarfile
from pathlib import Path

import pytest
from agents import RunConfig, Runner
from agents.run_config import SandboxRunConfig
from agents.sandbox import (
    ExecTimeoutError,
    ExecTransportError,
    ExposedPortUnavailableError,
    FileMode,
    LocalFile,
    LocalSnapshotSpec,
    Manifest,
    Permissions,
    SandboxAgent,
    WorkspaceArchiveReadError,
    WorkspaceArchiveWriteError,
    WorkspaceReadNotFoundError,
)
from agents.sandbox.entries import Dir, File, LocalDir
from agents.sandbox.errors import (
    ApplyPatchDiffError,
    ConfigurationError,
    ExecNonZeroError,
    InvalidManifestPathError,
    LocalFileReadError,
    PtySessionNotFoundError,
    WorkspaceStartError,
)
from agents.sandbox.snapshot import NoopSnapshotSpec
from agents.testing import ScriptedModel, assistant_message, function_call
from openai.types.responses import ResponseCustomToolCall
from paddock_adapters.openai_agents import PaddockSandboxClient, PaddockSandboxClientOptions
from paddock_sandbox import AsyncPaddock, NotFoundError
from paddock_sandbox.messages import OpenPortResponse

pytestmark = pytest.mark.anyio

ALL_BYTES = bytes(range(256)) * 300
RULES = {"write": ["**"], "read": ["kept"], "none": ["secrets"]}
client = PaddockSandboxClient(PaddockSandboxClientOptions(rules=RULES))


def manifest(data=ALL_BYTES, **more):
    return Manifest(
        entries={
            "a.txt": File(content=b"one\ntwo\n"),
            "run.sh": File(content=b"#!/bin/sh\necho ran\n"),
            "kept": Dir(children={"b.bin": File(content=data, permissions=Permissions.from_mode(0o640))}),
            "secrets": Dir(children={"key": File(content=b"hidden")}),
        },
        environment={"value": {"GREETING": "hello"}},
        **more,
    )


@pytest.fixture
async def session(anyio_backend):
    made = await client.create(manifest=manifest())
    async with made:
        yield made


async def nothing_left(sandbox_id, codebase_id):
    async with AsyncPaddock() as service:
        with pytest.raises(NotFoundError):
            await service.sandboxes.get(sandbox_id)
        with pytest.raises(NotFoundError):
            await service.codebases.get(codebase_id)


async def processes(session, **options):
    return [each async for each in session.sandbox.processes(**options)]


async def content(session, path):
    return (await session.read(Path(path))).read()


async def test_commands(session):
    result = await session.exec("echo $GREETING; echo no >&2; exit 3")
    assert (result.stdout, result.stderr, result.exit_code) == (b"hello\n", b"no\n", 3)
    result = await session.exec("printf", "%s|", "a b", "'\n", shell=False)
    assert result.stdout == b"a b|'\n|"
    result = await session.exec("cat kept/b.bin; pwd")
    assert result.stdout == ALL_BYTES + b"/workspace\n"
    assert (await session.exec("./run.sh")).stdout == b"ran\n"
    with pytest.raises(ConfigurationError):
        await session.exec("id", user="root")
    with pytest.raises(ExecTransportError):
        await session.exec("echo", "\0", shell=False)


async def test_exposed_ports_and_network():
    options = PaddockSandboxClientOptions(network={"mode": "open"}, exposed_ports=(8000, 8001))
    session = await client.create(options=options)
    async with session:
        sandbox = session._inner.sandbox
        assert (await sandbox.network.get()).mode == "open"
        with pytest.raises(ExposedPortUnavailableError) as error:
            await session.resolve_exposed_port(8000)
        assert "preview_domain" in str(error.value.context["detail"])
        assert await sandbox.ports.opened() == ()
        with pytest.raises(ExposedPortUnavailableError):
            await session.resolve_exposed_port(9000)

        async def opened(port, **_):
            return OpenPortResponse(url=f"https://p{port}-x.preview.example.com/", link_token=f"t{next(count)}")

        count = iter(range(2))
        sandbox.ports.open = opened
        endpoint = await session.resolve_exposed_port(8001)
        assert endpoint.url_for("ws") == "wss://p8001-x.preview.example.com/?paddock_token=t0"
        assert await session.resolve_exposed_port(8001) == endpoint


async def test_commands_are_killed(session):
    with pytest.raises(ExecTimeoutError):
        await session.exec("sleep 1000", timeout=1)
    with pytest.raises(ExecTransportError) as error:
        await session.exec("yes")
    assert error.value.context["reason"] == "output_limit"
    assert error.value.context["beginning"].startswith("y\ny\n")
    for call in (session.exec("sleep 1000"), session.pty_exec_start("sleep 1000")):
        task = asyncio.ensure_future(call)
        async with asyncio.timeout(30):
            while not await processes(session, running=True):
                await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await processes(session) == []
    # Also while it is started.
    for pause in (0, 0.001, 0.003, 0.01):
        task = asyncio.ensure_future(session.exec("sleep 1000"))
        await asyncio.wait([task], timeout=pause)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await processes(session) == []


async def test_answers_while_a_command_runs(session):
    await session.exec("mkfifo pipe")
    begun = await session.pty_exec_start("echo a; read go < pipe; echo \"b $go\" >&2", yield_time_s=0.3)
    assert (begun.output, begun.exit_code) == (b"a\n", None)
    with pytest.raises(RuntimeError, match="^stdin is not available for this process$"):
        await session.pty_write_stdin(session_id=begun.process_id, chars="x")
    await session.exec("echo gone > pipe; rm pipe")
    ended = await session.pty_write_stdin(session_id=begun.process_id, chars="", yield_time_s=20)
    assert (ended.output, ended.exit_code, ended.process_id) == (b"b gone\n", 0, None)
    with pytest.raises(PtySessionNotFoundError):
        await session.pty_write_stdin(session_id=begun.process_id, chars="")
    begun = await session.pty_exec_start("sleep 1000", yield_time_s=0.3)
    await session.pty_terminate_all()
    assert await processes(session) == []


async def test_terminals(session):
    begun = await session.pty_exec_start("cat", tty=True, yield_time_s=0.3)
    typed = await session.pty_write_stdin(session_id=begun.process_id, chars="é\n", yield_time_s=0.5)
    assert typed.output.decode() == "é\r\né\r\n"
    # What a cancelled call has read comes with the next one.
    reading = asyncio.ensure_future(session.pty_write_stdin(session_id=begun.process_id, chars="x\n", yield_time_s=20))
    await asyncio.wait([reading], timeout=0.5)
    reading.cancel()
    again = await session.pty_write_stdin(session_id=begun.process_id, chars="", yield_time_s=0.3)
    assert again.output.endswith(b"x\r\n")
    ended = await session.pty_write_stdin(session_id=begun.process_id, chars="\x03", yield_time_s=20)
    assert (ended.exit_code, ended.process_id) == (130, None)


async def test_says_what_it_cut(session):
    cut = await session.pty_exec_start("seq 100000", max_output_tokens=100, yield_time_s=20)
    assert b"tokens truncated" in cut.output and len(cut.output) < 1000
    assert cut.original_token_count > 100_000
    cut = await session.pty_exec_start("head -c 3000000 /dev/zero | tr '\\0' x; echo end", yield_time_s=20)
    assert re.search(rb"x\n\[2000004 characters of output left out\]\nx+end\n$", cut.output)
    async with asyncio.timeout(60):
        endless = await session.pty_exec_start("yes", yield_time_s=0.3)
        assert b"characters of output left out" in endless.output and endless.exit_code is None
        again = await session.pty_write_stdin(session_id=endless.process_id, chars="", yield_time_s=0.3)
        assert again.exit_code is None
    refused = await session.pty_exec_start("echo \0")
    assert refused.exit_code == 126 and refused.output


async def test_files(session):
    assert await content(session, "/workspace/kept/b.bin") == ALL_BYTES
    assert await session.read_bounded(Path("kept/b.bin"), max_bytes=300) == ALL_BYTES[:300]
    await session.write(Path("new/c.bin"), io.BytesIO(ALL_BYTES))
    assert await content(session, "new/c.bin") == ALL_BYTES
    with pytest.raises(WorkspaceReadNotFoundError):
        await content(session, "secrets/key")
    with pytest.raises(WorkspaceReadNotFoundError):
        await session.read_bounded(Path("secrets/key"), max_bytes=3)
    with pytest.raises(WorkspaceArchiveReadError):
        await content(session, "kept")
    for path in ("kept/b.bin", "secrets/key", "secrets/new", "kept"):
        with pytest.raises(WorkspaceArchiveWriteError):
            await session.write(Path(path), io.BytesIO(b"x"))
    for path in ("../etc/passwd", "/etc/passwd", "/tmp/x"):
        with pytest.raises(InvalidManifestPathError):
            await content(session, path)
    for call in (session.rm("kept/b.bin"), session.mkdir("kept/d"), session.ls("secrets"), session.ls("none")):
        with pytest.raises(ExecNonZeroError):
            await call
    with pytest.raises(ConfigurationError):
        await session.read(Path("a.txt"), user="root")
    found = {each.path: (each.kind.value, each.size, str(each.permissions)) for each in await session.ls("kept")}
    assert found == {"/workspace/kept/b.bin": ("file", len(ALL_BYTES), "-r--r-----")}
    # An application that was granted other paths has them by commands of the sandbox.
    session.state.manifest = manifest(extra_path_grants=[{"path": "/tmp/x"}, {"path": "/etc", "read_only": True}])
    await session.write(Path("/tmp/x/y"), io.BytesIO(ALL_BYTES))
    assert await content(session, "/tmp/x/y") == ALL_BYTES
    assert await session.read_bounded(Path("/tmp/x/y"), max_bytes=300) == ALL_BYTES[:300]
    with pytest.raises(WorkspaceArchiveWriteError):
        await session.write(Path("/etc/x"), io.BytesIO(b""))


async def test_hostile_names(session):
    names = ["-rf", "total 5", "a -> b", "line\nbreak", "$(touch x)", "'\"", " ", "ü", "x" * 255]
    for name in names:
        path = Path("odd") / name
        await session.mkdir(path, parents=True)
        await session.write(path / name, io.BytesIO(name.encode()))
        assert await content(session, path / name) == name.encode()
    assert {each.path for each in await session.ls("odd")} == {f"/workspace/odd/{name}" for name in names}
    for name in names:
        await session.rm(Path("odd") / name, recursive=True)
    assert await session.ls("odd") == []
    for name in ("x" * 256, "nul\0"):
        with pytest.raises((WorkspaceReadNotFoundError, WorkspaceArchiveReadError)):
            await content(session, name)
    await session.exec("ln -s /etc out; ln -s loop loop; mkfifo pipe")
    for name in ("out/passwd", "loop", "pipe"):
        with pytest.raises((WorkspaceReadNotFoundError, WorkspaceArchiveReadError)):
            await asyncio.wait_for(content(session, name), 30)


async def test_patches(session):
    diff = "@@\n one\n-two\n+2\n"
    await session.apply_patch({"type": "update_file", "path": "a.txt", "diff": diff, "move_to": "c/a.txt"})
    assert await content(session, "c/a.txt") == b"one\n2\n"
    with pytest.raises(WorkspaceReadNotFoundError):
        await content(session, "a.txt")
    with pytest.raises(ApplyPatchDiffError, match="already exists"):
        await session.apply_patch({"type": "create_file", "path": "c/a.txt", "diff": "+x"})
    with pytest.raises(ExecNonZeroError):
        await session.apply_patch({"type": "delete_file", "path": "kept/b.bin"})


async def test_manifests(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "local").mkdir()
    (tmp_path / "local" / "l.txt").write_bytes(ALL_BYTES)
    entries = {"here": LocalDir(src=Path("local")), "kept/one": LocalFile(src=Path("local/l.txt"))}
    made = await client.create(manifest=Manifest(entries=entries))
    async with made:
        assert await content(made, "here/l.txt") == await content(made, "kept/one") == ALL_BYTES
        # As the framework does it in a session that runs.
        secret = File(content=b"s", permissions=Permissions(owner=FileMode.READ))
        await made._apply_entry_batch([(Path("/workspace/secrets/s"), secret)], base_dir=tmp_path)
        assert (await made.sandbox.files.as_owner().stat("secrets/s")).mode == 0o400
        sandbox_id, codebase_id = made.state.sandbox_id, made.state.codebase_id
    await nothing_left(sandbox_id, codebase_id)
    await client.delete(made)
    with pytest.raises(WorkspaceStartError):
        await made.exec("true")
    for refused in (Manifest(root="/srv"), Manifest(users=[{"name": "ann"}])):
        with pytest.raises(ConfigurationError):
            await client.create(manifest=refused)


async def test_nothing_is_left_of_a_start_that_fails(tmp_path):
    async with AsyncPaddock() as service:
        before = {each.id async for each in service.codebases.list()}
        made = await client.create(manifest=Manifest(entries={"x": LocalFile(src=tmp_path / "none")}))
        with pytest.raises(LocalFileReadError):
            await made.start()
        for pause in (0, 0.02, 0.1, 0.3):
            made = await client.create(manifest=manifest())
            task = asyncio.ensure_future(made.start())
            await asyncio.wait([task], timeout=pause)
            task.cancel()
            (result,) = await asyncio.gather(task, return_exceptions=True)
            if result is None:
                await made.aclose()
            else:
                assert isinstance(result, asyncio.CancelledError)
        assert {each.id async for each in service.codebases.list()} == before
    lost = PaddockSandboxClient(url="http://127.0.0.1:9", max_retries=0)
    with pytest.raises(WorkspaceStartError):
        await (await lost.create()).start()


async def test_goes_on_from_its_state():
    # The SDK cannot serialize entries that are not UTF-8.
    session = await client.create(manifest=manifest(b"text"))
    await session.start()
    await session.exec("echo kept > state")
    payload = json.loads(json.dumps(client.serialize_session_state(session.state), default=str))
    await session.sandbox.stop()
    with pytest.raises(ExecTransportError):
        await session.exec("true")
    async with await client.resume(client.deserialize_session_state(payload)) as resumed:
        assert resumed.state.sandbox_id == session.state.sandbox_id
        assert (await resumed.exec("cat state; echo $GREETING")).stdout == b"kept\nhello\n"
    # The sandbox is gone: another one like it, with the manifest.
    async with await client.resume(client.deserialize_session_state(payload)) as another:
        assert another.state.sandbox_id != session.state.sandbox_id
        assert not await session.running()
        with pytest.raises(WorkspaceReadNotFoundError):
            await content(another, "secrets/key")
        assert await content(another, "a.txt") == b"one\ntwo\n"
    await session.aclose()


async def test_snapshots(tmp_path):
    entries = {**manifest(b"text").entries, "cache": Dir(ephemeral=True, children={"c": File(content=b"c")})}
    made = await client.create(manifest=Manifest(entries=entries), snapshot=LocalSnapshotSpec(base_path=tmp_path))
    async with made:
        await made.exec("echo two > a.txt; echo new > 'n\nn'; ln -s a.txt link; echo more > cache/d")
        payload = client.serialize_session_state(made.state)
    (archive,) = tmp_path.iterdir()
    with tarfile.open(archive) as found:
        assert not [name for name in found.getnames() if "cache" in name]
        assert found.extractfile("secrets/key").read() == b"hidden"
    async with await client.resume(client.deserialize_session_state(payload)) as resumed:
        assert (await resumed.exec("cat a.txt 'n\nn' link; ls cache")).stdout == b"two\nnew\ntwo\nc\n"
        assert await resumed.sandbox.files.as_owner().read("secrets/key") == b"hidden"
        with pytest.raises(WorkspaceArchiveWriteError):
            await resumed.hydrate_workspace(io.BytesIO(b"no archive" * 100))


def model_of(*steps):
    return ScriptedModel([*steps, [assistant_message("42")]])


async def test_runs():
    patch = "*** Begin Patch\n*** Add File: answer\n+42\n*** End Patch\n"
    model = model_of(
        [function_call("exec_command", {"cmd": "ls; cat .env"}, call_id="1")],
        [ResponseCustomToolCall(type="custom_tool_call", call_id="2", name="apply_patch", input=patch)],
        [function_call("exec_command", {"cmd": "cat answer", "workdir": "/workspace"}, call_id="3")],
        [function_call("view_image", {"path": "task.txt"}, call_id="4")],
        [function_call("exec_command", {"cmd": "sleep 1000", "yield_time_ms": 300}, call_id="5")],
    )
    entries = {"task.txt": File(content=b"compute"), ".env": File(content=b"TOKEN=secret")}
    agent = SandboxAgent(name="a", model=model, default_manifest=Manifest(entries=entries))
    options = PaddockSandboxClientOptions(rules={"write": ["**"], "none": [".env"]}, labels={"run": "test-runs"})
    sandbox = SandboxRunConfig(client=client, options=options, snapshot=NoopSnapshotSpec())
    result = await Runner.run(agent, "go", run_config=RunConfig(sandbox=sandbox, tracing_disabled=True))
    assert result.final_output == "42"
    outputs = [each["output"] for each in model.last_call.input if str(each.get("type")).endswith("call_output")]
    assert "exited with code 1" in outputs[0] and "task.txt" in outputs[0] and "secret" not in outputs[0]
    assert "No such file" in outputs[0]
    assert outputs[2].endswith("Output:\n42")
    assert "not a supported image" in outputs[3]
    assert "running with session ID" in outputs[4]
    async with AsyncPaddock() as service:
        assert [each async for each in service.sandboxes.list() if each.info.labels.get("run") == "test-runs"] == []
