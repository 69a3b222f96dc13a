import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { run } from '@openai/agents';
import { dir, Manifest, SandboxAgent, type SandboxError } from '@openai/agents/sandbox';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { NotFoundError, Paddock, Sandbox } from 'paddock-sandbox';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { PaddockClient, type PaddockSession } from '../src/openai-agents/index.ts';

const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, n) => n);
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const client = new PaddockClient({ rules: { write: ['**'], read: ['kept'], none: ['secrets'] } });
let session: PaddockSession;
beforeAll(async () => {
  session = await client.create({
    manifest: {
      entries: {
        'a.txt': { type: 'file', content: 'one\ntwo\n' },
        kept: dir({ children: { 'b.bin': { type: 'file', content: ALL_BYTES } } }),
        secrets: dir({ children: { key: { type: 'file', content: 'hidden' } } }),
        'dot.png': { type: 'file', content: PNG },
      },
      environment: { GREETING: 'hello' },
    },
  });
});
afterAll(() => session.delete());

const failure = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: SandboxError) => error,
  );
const sessionIn = (text: string) => Number(/session ID (\d+)/.exec(text)?.[1]);

it('runs commands, with the variables of the manifest', async () => {
  const result = await session.exec({ cmd: 'echo $GREETING; echo no >&2; exit 3', workdir: 'kept' });
  expect(result).toMatchObject({ stdout: 'hello\n', stderr: 'no\n', exitCode: 3 });
  expect(await session.execCommand({ cmd: 'pwd', shell: '/bin/bash' })).toMatch(
    /exited with code 0\nOutput:\n\/workspace\n/,
  );
});

it('exposes ports with host names of their own, and opens no other', async () => {
  const refused = await failure(session.resolveExposedPort(8000));
  expect(refused).toMatchObject({ message: expect.stringMatching(/preview_domain/), code: 'exposed_port_unavailable' });
  expect(await session.sandbox.ports.opened()).toEqual([]);
  const link = 'https://p8001-x.preview.example.com/?paddock_token=pdl_t';
  vi.spyOn(session.sandbox.ports, 'open').mockResolvedValueOnce({ link } as never);
  const found = { host: 'p8001-x.preview.example.com', port: 443, tls: true, query: 'paddock_token=pdl_t' };
  expect(await session.resolveExposedPort(8001)).toEqual(found);
});

it('answers while a command runs, which goes on', async () => {
  await session.exec({ cmd: 'mkfifo pipe' });
  const begun = await session.execCommand({ cmd: 'echo a; read go < pipe; echo "b $go"', yieldTimeMs: 300 });
  expect(begun).toMatch(/running with session ID \d+\nOutput:\na\n?$/);
  const sessionId = sessionIn(begun);
  expect(await failure(session.writeStdin({ sessionId, chars: 'x' }))).toMatchObject({ code: 'unsupported_feature' });
  await session.exec({ cmd: 'echo gone > pipe; rm pipe' });
  expect(await session.writeStdin({ sessionId, yieldTimeMs: 20_000 })).toMatch(/code 0\nOutput:\nb gone\n?$/);
  expect(await failure(session.writeStdin({ sessionId }))).toMatchObject({ code: 'pty_session_not_found' });
  expect(await session.exec({ cmd: 'echo patient', yieldTimeMs: 10 ** 12 })).toMatchObject({
    stdout: 'patient\n',
    exitCode: 0,
  });
});

it('has terminals with input', async () => {
  const sessionId = sessionIn(await session.execCommand({ cmd: 'cat', tty: true, yieldTimeMs: 300 }));
  expect(await session.writeStdin({ sessionId, chars: 'typed\n', yieldTimeMs: 500 })).toMatch(/typed\r\ntyped\r\n/);
  expect(await session.writeStdin({ sessionId, chars: '\u0003', yieldTimeMs: 20_000 })).toMatch(/exited with code 130/);
});

it('says what it cut of the output', async () => {
  const { output, originalTokenCount } = await session.exec({ cmd: 'seq 100000', maxOutputTokens: 100 });
  expect(output).toMatch(/tokens truncated/);
  expect([output.length < 500, originalTokenCount! > 100_000]).toEqual([true, true]);
  const { output: whole } = await session.exec({ cmd: 'head -c 3000000 /dev/zero | tr "\\0" x; echo end' });
  expect(whole).toMatch(/x\n\[2000004 characters of output left out\]\nx+end\n$/);
});

it('reads and writes bytes exactly, as the rules permit', async () => {
  expect(await session.readFile({ path: '/workspace/kept/b.bin' })).toEqual(ALL_BYTES);
  expect(await session.readFile({ path: 'kept/b.bin', maxBytes: 3 })).toEqual(ALL_BYTES.subarray(0, 3));
  await session.exec({ cmd: 'truncate -s 8G huge.png' });
  expect(await session.readFile({ path: 'huge.png', maxBytes: 3 })).toEqual(new Uint8Array(3));
  expect(await failure(session.viewImage({ path: 'huge.png' }))).toMatchObject({ message: /exceed/ });
  await session.exec({ cmd: 'rm huge.png' });
  expect(await failure(session.readFile({ path: 'secrets/key' }))).toMatchObject({
    code: 'workspace_read_not_found',
  });
  expect(await failure(session.readFile({ path: '../etc/passwd' }))).toMatchObject({ code: 'invalid_manifest_path' });
  expect(await session.pathExists('secrets')).toBe(false);
  expect([await session.directoryExists('kept'), await session.directoryExists('a.txt')]).toEqual([true, false]);
  const names = (await session.listDir({ path: '' })).map(({ name, type }) => `${name} ${type}`);
  expect(names).toEqual(expect.arrayContaining(['a.txt file', 'kept dir']));
  expect(names.join()).not.toMatch(/secrets/);
  expect((await session.viewImage({ path: 'dot.png' })).image).toMatchObject({ mediaType: 'image/png' });
  expect(await failure(session.viewImage({ path: 'a.txt' }))).toMatchObject({ message: /Unsupported image/ });
});

it('edits by patches, as the rules permit', async () => {
  const editor = session.createEditor();
  const diff = '@@\n one\n-two\n+2\n';
  await editor.updateFile({ type: 'update_file', path: 'a.txt', diff, moveTo: 'c/a.txt' });
  expect(Buffer.from(await session.readFile({ path: 'c/a.txt' })).toString()).toBe('one\n2\n');
  expect(await session.pathExists('a.txt')).toBe(false);
  const existing = { type: 'create_file', path: 'c/a.txt', diff: '+x' } as const;
  expect(await editor.createFile(existing)).toMatchObject({ status: 'failed' });
  const refused = editor.deleteFile({ type: 'delete_file', path: 'kept/b.bin' }) as Promise<unknown>;
  expect(await failure(refused)).toMatchObject({ code: 'provider_error', details: { code: 'PERMISSION_DENIED' } });
});

it('edits only what it can write back exactly', async () => {
  const editor = session.createEditor();
  await session.exec({
    cmd: "printf '\\357\\273\\277one\\n' > mark.sh; chmod 755 mark.sh; printf 'caf\\351\\n' > latin",
  });
  const diff = '@@\n-one\n+two\n';
  await editor.updateFile({ type: 'update_file', path: 'mark.sh', diff, moveTo: 'moved.sh' });
  const { stdout } = await session.exec({ cmd: 'od -An -tx1 moved.sh; stat -c %a moved.sh' });
  expect(stdout).toBe(' ef bb bf 74 77 6f 0a\n755\n');
  const latin = { type: 'update_file', path: 'latin', diff: '@@\n-caf\n+x\n' } as const;
  expect(await editor.updateFile(latin)).toEqual({ status: 'failed', output: 'latin is no UTF-8 text' });
});

it('takes local files from the working directory only, and unlisted entries not at all', async () => {
  const folder = await mkdtemp('local-');
  try {
    await writeFile(`${folder}/l.txt`, 'local');
    await symlink('/etc', `${folder}/etc`);
    await session.materializeEntry({ path: 'here', entry: { type: 'local_dir', src: folder } as never });
    expect(Buffer.from(await session.readFile({ path: 'here/l.txt' })).toString()).toBe('local');
    const outside = { path: 'p', entry: { type: 'local_file', src: `${folder}/etc/passwd` } as never };
    expect(await failure(session.materializeEntry(outside))).toMatchObject({ code: 'configuration_error' });
  } finally {
    await rm(folder, { recursive: true });
  }
  const repository = { path: 'r', entry: { type: 'git_repo', repo: 'a/b' } as never };
  expect(await failure(session.materializeEntry(repository))).toMatchObject({ code: 'unsupported_feature' });
  expect(await failure(session.exec({ cmd: 'id', runAs: 'root' }))).toMatchObject({ code: 'unsupported_feature' });
  const elsewhere = client.create({ manifest: { root: '/srv' } });
  expect(await failure(elsewhere)).toMatchObject({ code: 'unsupported_feature' });
  const limited = client.create({ archiveLimits: { maxMembers: 1 } });
  expect(await failure(limited)).toMatchObject({ code: 'unsupported_feature' });
});

it('moves a workspace to another sandbox', async () => {
  const other = await client.create();
  try {
    await other.hydrateWorkspace(await session.persistWorkspace());
    expect(await other.sandbox.files.asOwner().readText('secrets/key')).toBe('hidden');
    expect(await failure(other.hydrateWorkspace('no archive'))).toMatchObject({ code: 'provider_error' });
  } finally {
    await other.close();
  }
});

const call = (name: string, args: Record<string, unknown>) => [functionCall(name, args, { callId: name })];

it('works in a sandbox that ends with it', async () => {
  const model = new ScriptedModel([
    call('exec_command', { cmd: 'ls; echo 42 > answer; cat answer' }),
    [assistantMessage('42')],
  ]);
  let id = '';
  const watched = new (class extends PaddockClient {
    override async create(...args: Parameters<PaddockClient['create']>) {
      const made = await super.create(...args);
      id = made.sandbox.id;
      return made;
    }
  })();
  const manifest = new Manifest({ entries: { 'task.txt': { type: 'file', content: 'compute' } } });
  const agent = new SandboxAgent({ name: 'a', model, defaultManifest: manifest });
  const { finalOutput } = await run(agent, 'go', { sandbox: { client: watched } });
  expect(finalOutput).toBe('42');
  expect(JSON.stringify(model.lastCall?.request.input)).toMatch(/exited with code 0.*task\.txt.*42/);
  await expect(Sandbox.connect(id)).rejects.toThrow(NotFoundError);
});

it('goes on with the same sandbox from its serialized state', async () => {
  await session.exec({ cmd: 'echo kept > state' });
  const record = JSON.parse(JSON.stringify(await client.serializeSessionState(session.state)));
  await session.sandbox.stop();
  const resumed = await client.resume(await client.deserializeSessionState(record));
  expect((await resumed.exec({ cmd: 'cat state' })).stdout).toBe('kept\n');
  expect((await resumed.exec({ cmd: 'echo $GREETING' })).stdout).toBe('hello\n');
  // As the run config says.
  const clientOptions = { paddock: new Paddock({ url: 'http://127.0.0.1:1', maxRetries: 0 }) };
  expect(await failure(client.resume(session.state, { clientOptions }))).toMatchObject({
    code: 'exec_transport_error',
  });
});

it('deletes the sandbox of a state with its codebase', async () => {
  const { state, sandbox } = await client.create();
  await client.delete(state);
  await expect(Sandbox.connect(state.sandboxId)).rejects.toThrow(NotFoundError);
  await expect(new Paddock().codebases.get(sandbox.info.codebaseId)).rejects.toThrow(NotFoundError);
});
