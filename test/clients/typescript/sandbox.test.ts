import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import {
  CommandError,
  CommandTimeoutError,
  ConflictError,
  FailedPreconditionError,
  InvalidArgumentError,
  NotFoundError,
  type Paddock,
  PermissionDeniedError,
  RequestTimeoutError,
  Sandbox,
} from '../../../clients/typescript/src/index.ts';
import { atTimeout } from '../../at-timeout.ts';
import { servedOnce } from './served.ts';

const served = servedOnce({ config: { sandbox: { max_per_user: 50 } } });
const everything = { rules: { write: ['**'] } };
let paddock: Paddock;
let sandbox: Sandbox;

async function collected<T>(events: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const event of events) found.push(event);
  return found;
}

beforeAll(async () => {
  paddock = served.paddock();
  sandbox = await paddock.sandboxes.create(everything);
});
afterAll(() => sandbox.destroy());

describe('commands', () => {
  it('have a result, whatever their exit code', async () => {
    const result = await sandbox.run('echo out; echo err >&2; exit 3');
    expect(result).toMatchObject({ exitCode: 3, stdout: 'out\n', stderr: 'err\n', endReason: 'exited', ok: false });
    await expect(sandbox.run('echo no >&2; exit 3', { check: true })).rejects.toThrow(CommandError);
    expect(() => result.check()).toThrow(/exit code 3:\nerr/);
  });

  it('take arguments, standard input, variables and a directory', async () => {
    const argv = await sandbox.run(['printf', '%s|', 'a b', '$c'], { env: { X: '1' } });
    expect(argv.check().stdout).toBe('a b|$c|');
    const text = await sandbox.run('cat; echo $X; pwd', { stdin: 'in ', env: { X: '1' }, workdir: '/tmp' });
    expect(text.stdout).toBe('in 1\n/tmp\n');
    const bytes = await sandbox.run('od -An -tx1', { stdin: new Uint8Array([0, 255]) });
    expect(bytes.stdout.trim()).toBe('00 ff');
    expect((await sandbox.run('echo 1; echo 2 >&2', { merge: true })).output).toBe('1\n2\n');
  });

  it('have their output as it is written, in whole characters', async () => {
    const parts = { stdout: '', stderr: '' };
    const command = "printf '\\303'; sleep 0.05; printf '\\244'; echo err >&2; exit 1";
    const result = await sandbox.run(command, {
      onStdout: (text) => {
        parts.stdout += text;
      },
      onStderr: (text) => {
        parts.stderr += text;
      },
    });
    expect(parts).toEqual({ stdout: 'ä', stderr: 'err\n' });
    expect(result).toMatchObject({ exitCode: 1, stdout: 'ä', stderr: 'err\n' });
    const events = await collected(sandbox.stream('echo one; exit 2'));
    expect(events.map((event) => (event.type === 'exit' ? event.exitCode : event.text))).toEqual(['one\n', 2]);
  });

  it('keep the beginning and the end of long output, streamed or not', async () => {
    for (const onStdout of [undefined, () => undefined]) {
      const { stdout, ...more } = await sandbox.run('seq 99999; echo end', { maxOutput: 200, onStdout });
      expect(more).toMatchObject({ output: stdout, outputTruncated: true, outputDroppedBytes: 0 });
      expect(more.stdoutDroppedBytes).toBeGreaterThan(588_000);
      expect(stdout).toMatch(/^1\n2\n.*bytes left out\].*\nend\n$/s);
      expect(stdout.length).toBeLessThan(300);
    }
  });

  it('end at their timeout, with the output so far', async () => {
    for (const onStdout of [undefined, () => undefined]) {
      const failed = await atTimeout(
        (seconds) =>
          sandbox.run('echo begun; sleep 60', { timeout: `${seconds}s`, onStdout }).catch((error: unknown) => error),
        (error) => error instanceof CommandTimeoutError && error.stdout !== '',
      );
      expect(failed).toMatchObject({ name: 'CommandTimeoutError', code: 'DEADLINE_EXCEEDED', stdout: 'begun\n' });
      expect(failed).toBeInstanceOf(CommandTimeoutError);
    }
  });

  it('are killed by their signal, and by leaving the loop', async () => {
    const running = () => sandbox.run("pgrep -fx 'sleep 97' | wc -l").then(({ stdout }) => stdout.trim());
    const reason = new Error('enough');
    const controller = new AbortController();
    const run = sandbox.run('echo; sleep 97', { signal: controller.signal, onStdout: () => controller.abort(reason) });
    await expect(run).rejects.toBe(reason);
    for await (const _ of sandbox.stream('echo; sleep 97')) break;
    await expect.poll(running).toBe('0');
  });
});

describe('processes', () => {
  it('have input, output from an offset, and an end', async () => {
    const process = await sandbox.start('while read n; do echo $((n + 1)); done; exit 4', { stdin: true });
    await process.write('41\n');
    await process.write('1\n');
    await process.closeStdin();
    expect(await process.wait()).toMatchObject({ reason: 'exited', exitCode: 4 });
    const all = await collected(process.output());
    expect(all.map((each) => (each.type === 'gap' ? '' : each.text)).join('')).toBe('42\n2\n');
    const rest = await collected((await sandbox.process(process.id)).output({ offset: 3 }));
    expect(rest).toMatchObject([{ type: 'stdout', text: '2\n', next: 5 }]);
    expect(await collected(process.output())).toEqual(all);
    await process.delete();
    await process.delete();
    await expect(process.refresh()).rejects.toMatchObject({ name: 'NotFoundError', code: 'NOT_FOUND' });
  });

  it('get signals, and are listed', async () => {
    const process = await sandbox.start(['sleep', '60'], { labels: { of: 'signals' } });
    expect(await collected(sandbox.processes({ labels: { of: 'signals' }, running: true }))).toMatchObject([
      { id: process.id, info: { argv: ['sleep', '60'] } },
    ]);
    await expect(process.wait({ timeout: '50ms' })).rejects.toThrow(RequestTimeoutError);
    await process.signal('SIGINT');
    expect(await process.wait({ timeout: '20s' })).toMatchObject({ reason: 'signaled', signal: 2 });
  });

  it('listen on ports', async () => {
    const program = 'import socket,time; s=socket.create_server(("127.0.0.1", 8123)); time.sleep(60)';
    const process = await sandbox.start(['python3', '-c', program]);
    expect(await sandbox.ports.wait(8123)).toMatchObject({ port: 8123, processId: process.id });
    expect(await sandbox.ports.list()).toMatchObject([{ port: 8123 }]);
    await process.delete();
    await expect(sandbox.ports.wait(8124, { timeout: '10ms' })).rejects.toThrow(/port 8124/);
  });

  it('have a terminal, over a WebSocket', async () => {
    const { api } = served.paddock({ WebSocket: WebSocket as never });
    const process = await (await Sandbox.connect(sandbox.id, { paddock: { api } })).start(
      ['sh', '-c', 'read x; stty size; echo "got $x"'],
      {
        terminal: { columns: 80, rows: 24 },
      },
    );
    const terminal = await process.attach();
    terminal.resize(100, 40);
    terminal.write('hello\n');
    const events = await collected(terminal);
    const text = events.map((event) => (event.type === 'output' ? new TextDecoder().decode(event.data) : '')).join('');
    expect(text).toMatch(/40 100\r\ngot hello/);
    expect(events[0]).toMatchObject({ type: 'connected', terminal: true, writer: true });
    expect(events.at(-1)).toMatchObject({ type: 'exit', exitCode: 0 });
  });
});

it('a session keeps its directory and variables', async () => {
  const session = await sandbox.session({ env: { A: 'a' } });
  await session.run('cd /tmp; B=b', { check: true });
  expect((await session.run('echo $PWD $A $B', { onStdout: () => undefined })).stdout).toBe('/tmp a b\n');
  expect((await session.run('echo $PWD; exit 3')).sessionEnded).toBe(true);
  await expect(session.run('true')).rejects.toThrow(FailedPreconditionError);
  await session.close();
  await expect(session.refresh()).rejects.toThrow(NotFoundError);
});

describe('files', () => {
  it('are written, read, listed, moved and removed', async () => {
    const { files } = sandbox;
    await files.write('/workspace/docs/a b.txt', 'täxt', { mode: 0o600 });
    expect(await files.readText('docs/a b.txt')).toBe('täxt');
    expect([...(await files.read('docs/a b.txt')).subarray(0, 3)]).toEqual([0x74, 0xc3, 0xa4]);
    expect(await files.stat('docs/a b.txt')).toMatchObject({ type: 'file', size: 5, mode: 0o600 });
    await files.mkdir('docs/deep/er');
    await files.mkdir('docs/deep/er');
    await files.move('docs/a b.txt', 'docs/deep/b.txt');
    const paths = (await collected(files.list('docs', { recursive: true }))).map(({ path }) => path);
    expect(paths).toEqual(['docs/deep', 'docs/deep/b.txt', 'docs/deep/er']);
    expect([await files.exists('docs/deep/b.txt'), await files.exists('docs/a b.txt')]).toEqual([true, false]);
    await expect(files.remove('docs')).rejects.toThrow(FailedPreconditionError);
    expect(await files.remove('docs', { recursive: true })).toBe(4);
  });

  it('are written from streams, and go in and out as archives', async () => {
    const { files } = sandbox;
    async function* pieces() {
      yield new TextEncoder().encode('one ');
      yield new TextEncoder().encode('two');
    }
    await files.write('from/stream.txt', pieces());
    const archive = new Uint8Array(await new Response(await files.download('from')).arrayBuffer());
    expect(await files.upload(archive, 'to')).toMatchObject({ files: 1 });
    expect(await files.readText('to/stream.txt')).toBe('one two');
  });

  it('that are not there are told from sandboxes that are not', async () => {
    const missing = { name: 'NotFoundError', resourceType: 'file', resourceId: 'no/such' };
    await expect(sandbox.files.readText('no/such')).rejects.toMatchObject(missing);
    const gone = { name: 'NotFoundError', resourceType: 'sandbox', resourceId: 'sb_none' };
    await expect(Sandbox.connect('sb_none', { paddock })).rejects.toMatchObject(gone);
    await expect(paddock.codebases.get('cb_none')).rejects.toMatchObject({
      resourceType: 'codebase',
      resourceId: 'cb_none',
    });
  });

  it('of a path that would leave the request are refused here', async () => {
    await expect(sandbox.files.readText('a/../../b')).rejects.toThrow(InvalidArgumentError);
  });
});

describe('changes', () => {
  it('are listed, exported, discarded and committed', async () => {
    const codebase = await paddock.codebases.create({ name: 'changes' });
    await paddock.codebases.write(codebase.id, 'kept.txt', 'old\n');
    const own = await paddock.sandboxes.create({ codebase: codebase.id, ...everything });
    await own.run('echo new > kept.txt; echo 1 > a.txt; echo 2 > b.txt', { check: true });
    expect((await own.changes()).map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      'added a.txt',
      'added b.txt',
      'modified kept.txt',
    ]);
    expect(await own.patch({ paths: ['kept.txt'] })).toMatch(/-old\n\+new/);
    expect(await own.discard({ paths: ['b.txt'] })).toBe(1);
    await paddock.codebases.write(codebase.id, 'kept.txt', 'theirs\n');
    const conflict = { name: 'ConflictError', code: 'ABORTED', paths: ['kept.txt'] };
    await expect(own.commit()).rejects.toMatchObject(conflict);
    await expect(own.commit()).rejects.toThrow(ConflictError);
    expect(await own.commit({ onConflict: 'ours' })).toMatchObject({ committed: true, count: 2 });
    expect(await own.changes()).toEqual([]);
    expect(new TextDecoder().decode(await paddock.codebases.read(codebase.id, 'kept.txt'))).toBe('new\n');
    await own.destroy();
    await paddock.codebases.delete(codebase.id);
  });

  it('are undone by a rollback, and forked', async () => {
    const { files } = sandbox;
    await files.write('state', '1');
    await sandbox.checkpoint('one');
    await files.write('state', '2');
    const [before, now] = await Promise.all([sandbox.fork({ checkpoint: 'one' }), sandbox.fork()]);
    expect([await before.files.readText('state'), await now.files.readText('state')]).toEqual(['1', '2']);
    await Promise.all([before.destroy(), now.destroy()]);
    await sandbox.rollback('one');
    expect(await files.readText('state')).toBe('1');
    expect((await sandbox.checkpoints()).map(({ name }) => name)).toEqual(['one']);
    await sandbox.deleteCheckpoint('one');
    const none = { resourceType: 'checkpoint', resourceId: 'one' };
    await expect(sandbox.rollback('one')).rejects.toMatchObject(none);
  });
});

it('rules are set, obeyed and explained', async () => {
  await using own = await paddock.sandboxes.create({ rules: { read: ['**'], write: ['src/**'], none: ['.env*'] } });
  await own.files.asOwner().write('.env', 'SECRET=1');
  await expect(own.files.readText('.env')).rejects.toThrow(NotFoundError);
  await expect(own.files.write('other.txt', '')).rejects.toThrow(PermissionDeniedError);
  expect(await own.rules.explain('.env')).toMatchObject({ permission: 'none' });
  expect(await own.rules.explain('/workspace')).toMatchObject({ path: '', permission: 'read' });
  await own.run('cat .env .envrc; touch other.txt');
  expect((await own.refusals()).map(({ path, code }) => [path, code])).toContainEqual(['.env', 'hidden']);
  await own.rules.set({ preset: 'full-access' });
  expect((await own.run('cat .env')).stdout).toBe('SECRET=1');
  expect(await own.rules.get()).toHaveLength(1);
  await expect(own.rules.set({ preset: 'none-such' })).rejects.toThrow(InvalidArgumentError);
  expect((await paddock.presets()).map(({ name }) => name)).toContain('agent-safe');
});

it('the life of a sandbox, and of the codebase that was made for it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'paddock-sdk-'));
  await writeFile(join(directory, 'a.txt'), 'a');
  const own = await paddock.sandboxes.create({
    from: directory,
    ...everything,
    labels: { camelCase: 'x_y' },
    expiresIn: '1h',
  });
  await rm(directory, { recursive: true });
  expect((await own.run('cat a.txt')).stdout).toBe('a');
  expect(own.info.labels).toEqual({ camelCase: 'x_y' });
  await own.update({ labels: { b: '2' }, env: { SOME_NAME: 'v' } });
  expect(own.info).toMatchObject({ labels: { camelCase: 'x_y', b: '2' }, env: { SOME_NAME: 'v' } });
  const listed = await collected(paddock.sandboxes.list({ labels: { b: '2' } }));
  expect(listed.map(({ id }) => id)).toEqual([own.id]);
  await own.stop();
  expect((await own.refresh()).status).toBe('stopped');
  await own.resume();
  expect(own.info.status).toBe('running');
  await own.destroy();
  await expect(paddock.codebases.get(own.info.codebaseId)).rejects.toThrow(NotFoundError);

  const kept = await paddock.sandboxes.create(everything);
  await kept.files.write('result', '1');
  await kept.commit();
  await kept.destroy();
  expect(await paddock.codebases.get(kept.info.codebaseId)).toMatchObject({ fileCount: 1 });
  expect((await collected(paddock.codebases.files(kept.info.codebaseId))).map(({ path }) => path)).toEqual(['result']);
  await paddock.codebases.delete(kept.info.codebaseId);
});

it('the server says how it is, and who calls', async () => {
  expect(await paddock.health()).toEqual({ status: 'ok' });
  expect(await paddock.caller()).toMatchObject({ role: 'admin', ownerId: '' });
  expect(await collected(paddock.images.list())).toEqual([]);
});
