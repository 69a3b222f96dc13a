import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  ConnectionFailedError,
  InvalidArgumentError,
  Paddock,
  Process,
  type ProcessInfo,
  Sandbox,
} from '../../../clients/typescript/src/index.ts';
import { cut, fakeServer, json, lines, refused } from './fake-server.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const processOf = (url: string) =>
  new Process(new Paddock({ url }).api, { sandboxId: 'sb_1', processId: 'p' } as ProcessInfo);
const sandbox = (url: string) => new Sandbox(new Paddock({ url }).api, { id: 'sb_1', codebaseId: 'cb_1' } as never);

describe('a call whose answer is lost', () => {
  it('is repeated if it reads, or has an idempotency key, the same one', async () => {
    const { url, seen } = await fakeServer(cut(), cut('{"id'), json({ id: 'cb_1' }));
    const { api } = new Paddock({ url });
    expect(await api.createCodebase({ name: 'a' })).toEqual({ id: 'cb_1' });
    expect(seen).toHaveLength(3);
    const keys = new Set(seen.map(({ headers }) => headers['idempotency-key']));
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
    const read = await fakeServer(cut(), json({ id: 'sb_1' }));
    await new Paddock({ url: read.url }).api.getSandbox({ sandboxId: 'sb_1' });
    expect(read.seen.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined, undefined]);
  });

  it('leaves no key whose secret nobody has', async () => {
    const lost = json({ key: { id: 'k1' }, notice: 'repeated' });
    const { url, seen } = await fakeServer(cut(), lost, json({}), json({ key: { id: 'k2' }, secret: 'pdk_2' }));
    const created = await new Paddock({ url }).keys.create({ name: 'x', role: 'owner' });
    expect(created.secret).toBe('pdk_2');
    expect(seen.map(({ method }) => method)).toEqual(['POST', 'POST', 'DELETE', 'POST']);
    expect(seen[2]!.url).toBe('/v1/keys/k1');
    expect(seen[1]!.headers['idempotency-key']).not.toBe(seen[3]!.headers['idempotency-key']);
  });

  it('is not repeated more often than the setting says, nor with a stream as its body', async () => {
    const { url, seen } = await fakeServer(cut());
    await expect(new Paddock({ url, maxRetries: 1 }).caller()).rejects.toThrow(/was lost/);
    expect(seen).toHaveLength(2);
    async function* content() {
      yield new Uint8Array(1);
    }
    await expect(sandbox(url).files.write('a', content())).rejects.toThrow(ConnectionFailedError);
    expect(seen).toHaveLength(3);
    await expect(sandbox(url).files.write('a', () => content())).rejects.toThrow(ConnectionFailedError);
    expect(seen).toHaveLength(7);
  });

  it('has removed no file if that is gone', async () => {
    const { url } = await fakeServer(refused(14, 503), refused(5, 404));
    expect(await sandbox(url).files.remove('a')).toBe(0);
  });

  it('is not taken for one whose content cannot be read', async () => {
    const { url, seen } = await fakeServer((res) => res.end('{}'));
    const reason = new Error('broken');
    async function* content() {
      yield new Uint8Array(1);
      throw reason;
    }
    await expect(sandbox(url).files.write('a', () => content())).rejects.toBe(reason);
    const stream = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(reason) });
    await expect(sandbox(url).files.write('a', stream)).rejects.toBe(reason);
    const failing = () => Promise.reject(reason);
    await expect(sandbox(url).files.write('a', failing)).rejects.toBe(reason);
    expect(seen.length).toBeLessThan(3);
  });

  it('does not write input twice, and has no offset, for which bytes of another writer would be skipped', async () => {
    const { url, seen } = await fakeServer(cut(), json({ input_next: 9 }));
    const process = processOf(url);
    await expect(process.write('ab')).rejects.toThrow(ConnectionFailedError);
    await process.closeStdin();
    expect(seen.map(({ url: target, body }) => `${target.split('?')[1]} ${body}`)).toEqual([
      'end=false ab',
      'end=true ',
    ]);
  });

  it('is repeated if the body of what it reads breaks off, unless it is a stream', async () => {
    const broken = cut('begin');
    const { url, seen } = await fakeServer(broken, (res) => res.end('whole'), broken);
    expect(await sandbox(url).files.readText('a')).toBe('whole');
    expect(seen).toHaveLength(2);
    const stream = await sandbox(url).files.stream('a');
    await expect(new Response(stream as never).text()).rejects.toThrow(ConnectionFailedError);
    expect(seen).toHaveLength(3);
  });
});

it('a server that is not there is named, and tried again, whatever the operation', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  let calls = 0;
  const counted: typeof fetch = (...args) => fetch(args[0], args[1] ?? {}).finally(() => calls++);
  const paddock = new Paddock({ url: `http://127.0.0.1:${port}/`, fetch: counted });
  const failed = Sandbox.prototype.run.call(new Sandbox(paddock.api, { id: 'sb_1' } as never), 'date');
  await expect(failed).rejects.toThrow(/no connection to http:\/\/127.0.0.1:\d+: ECONNREFUSED; is the server running/);
  expect(calls).toBe(4);
});

it('a signal ends a call, and the wait before its repetition, with its reason', async () => {
  const { url, seen } = await fakeServer(refused(8, 429, { 'retry-after': '30' }));
  const controller = new AbortController();
  const failed = new Paddock({ url }).caller({ signal: controller.signal });
  const reason = new Error('stop');
  const waits = expect(failed).rejects.toBe(reason);
  await expect.poll(() => seen.length).toBe(1);
  controller.abort(reason);
  await waits;
  await expect(new Paddock({ url }).caller({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

describe('the output of a process', () => {
  const event = (text: string, next: number) => ({
    data: base64(text),
    stream: 'stdout',
    next,
    gap: 0,
    keepalive: false,
  });

  it('goes on where the connection was lost', async () => {
    const end = { ...event('', 4), stream: '', end: { reason: 'exited', exit_code: 0, signal: 0, duration_ms: 1 } };
    const first = cut(`${JSON.stringify(event('ab', 2))}\n${JSON.stringify(event('c', 3))}\n{"data": "Z`);
    const { url, seen } = await fakeServer(first, cut(), lines(event('d', 4), end));
    let text = '';
    for await (const part of processOf(url).output()) if (part.type === 'stdout') text += part.text;
    expect(text).toBe('abcd');
    expect(seen.map((each) => new URL(each.url, url).searchParams.get('offset'))).toEqual(['0', '3', '3']);
  });

  it('ends with an error when the connection is lost again and again, and of a command at once', async () => {
    const { url, seen } = await fakeServer(cut(`${JSON.stringify(event('ab', 2))}\n`), cut());
    const read = async (events: AsyncIterable<unknown>) => {
      for await (const _ of events);
    };
    await expect(read(processOf(url).output())).rejects.toThrow(ConnectionFailedError);
    expect(seen.length).toBeGreaterThan(3);
    const command = await fakeServer(cut('{"data":"","stream":"STDOUT","duration_ms":0}\n'));
    await expect(read(sandbox(command.url).stream('date'))).rejects.toThrow(ConnectionFailedError);
    expect(command.seen).toHaveLength(1);
  });
});

it('reports characters that a gap or the end has cut', async () => {
  const event = (bytes: number[], next: number, gap = 0) => ({
    data: Buffer.from(bytes).toString('base64'),
    ...{ stream: gap > 0 ? '' : 'stdout', next, gap, keepalive: false },
  });
  const end = { ...event([], 6), stream: '', end: { reason: 'exited', exit_code: 0, signal: 0, duration_ms: 1 } };
  const { url } = await fakeServer(lines(event([97, 0xc3], 2), event([], 4, 2), event([98, 0xc3], 6), end));
  const shown = [];
  for await (const part of processOf(url).output()) shown.push(part.type === 'gap' ? 'gap' : [part.text, part.next]);
  expect(shown).toEqual([['a', 2], ['\ufffd', 2], 'gap', ['b', 6], ['\ufffd', 6]]);
});

it('shows no key where a sandbox is printed', async () => {
  const own = new Sandbox(new Paddock({ url: 'http://x', key: 'pdk_secret' }).api, { id: 'sb_1' } as never);
  expect(own.api.settings.key).toBe('pdk_secret');
  expect(inspect(own, { depth: 9 }) + JSON.stringify(own)).not.toContain('pdk_secret');
});

describe('the key of the environment', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('is sent to the server of the environment only', () => {
    vi.stubEnv('PADDOCK_KEY', 'pdk_env');
    vi.stubEnv('PADDOCK_URL', 'http://own:1/');
    const keyOf = (url?: string) => new Paddock({ url }).api.settings.key;
    expect([keyOf(), keyOf('http://own:1'), keyOf('http://other:1')]).toEqual(['pdk_env', 'pdk_env', undefined]);
  });
});

it('empty lists of paths are refused: to the server they are all paths', async () => {
  const own = sandbox('http://127.0.0.1:1');
  for (const method of ['changes', 'patch', 'commit', 'discard'] as const)
    await expect(own[method]({ paths: [] })).rejects.toThrow(InvalidArgumentError);
});

it('a header of the caller replaces one of the client, in any case', async () => {
  const { url, seen } = await fakeServer(json({}));
  await new Paddock({ url, key: 'a', headers: { Authorization: 'Bearer b' } }).caller();
  expect(seen[0]!.headers.authorization).toBe('Bearer b');
});

it('sends key, headers and fields as the server reads them', async () => {
  const { url, seen } = await fakeServer(json({ changes: [], sandboxes: [] }));
  const { api } = new Paddock({ url: `${url}/prefix/`, key: 'pdk_1', headers: { 'x-team': 'a' } });
  await api.createSandbox({ codebaseId: 'cb_1', expiresIn: '1m', labels: { camelCase: 'x' }, preset: undefined });
  await api.listChanges({ sandboxId: 'sb/1', paths: ['a b', 'c'], includeScratch: true }).next();
  await api.writeFile({ sandboxId: 'sb_1', path: '/a/b c', mode: 0o600 }, 'text');
  await api.listSandboxes({ labels: { 'my.key': 'v' } }).next();
  expect(seen[0]!.headers).toMatchObject({ authorization: 'Bearer pdk_1', 'x-team': 'a' });
  expect(JSON.parse(seen[0]!.body)).toEqual({ codebase_id: 'cb_1', expires_in: 60, labels: { camelCase: 'x' } });
  expect(seen.slice(1).map(({ method, url: target }) => `${method} ${target}`)).toEqual([
    'GET /prefix/v1/sandboxes/sb%2F1/changes?paths=a+b&paths=c&include_scratch=true&page_size=1000',
    'PUT /prefix/v1/sandboxes/sb_1/files/a/b%20c?mode=600',
    'GET /prefix/v1/sandboxes?labels.my.key=v&page_size=1000',
  ]);
});
