import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CreatedKey, Sandbox } from '../../lib/contract/messages.ts';
import { type Answer, connect, connectStdio, ERAS, type Era, type McpClient } from './mcp-clients.ts';
import { RestClient } from './rest-client.ts';
import { hide, read, write } from './rules.ts';
import { eventually } from './scene.ts';
import { serverOfFile } from './use-server.ts';

const ADMIN = `pdk_operator_${'m'.repeat(43)}`;

const served = serverOfFile({ config: { auth: { mode: 'keys' } }, env: { PADDOCK_ADMIN_KEY: ADMIN } });
let owner: RestClient;
const keys = { owner: '', agent: '', other: '' };
let sandbox: string;
let other: string;
let codebase: string;
const clients: McpClient[] = [];

const base = () => served.url;
const agentUrl = (id = sandbox) => `${base()}/v1/sandboxes/${id}/mcp`;

async function open(era: Era, url: string, key: string): Promise<McpClient> {
  const client = await connect(era, url, key);
  clients.push(client);
  return client;
}

// biome-ignore lint/suspicious/noExplicitAny: what a tool answers is checked by what is expected of it
type Values = Record<string, any>;

const textOf = ({ content }: Answer): string => content.map(({ text }) => text).join('');

beforeAll(async () => {
  const admin = new RestClient(served.server.httpAddress, ADMIN);
  const keyOf = async (rights: object): Promise<string> =>
    ((await admin.call('CreateKey', { name: 'k', ...rights })) as CreatedKey).secret;
  keys.owner = await keyOf({ role: 'owner', owner_id: 'ann' });
  keys.other = await keyOf({ role: 'owner', owner_id: 'bob' });
  owner = new RestClient(served.server.httpAddress, keys.owner);
  codebase = (await owner.call('CreateCodebase', { name: 'c' })).id;
  await owner.upload(codebase, 'src/a.ts', 'const a = 1;\n');
  await owner.upload(codebase, '.env', 'SECRET=1\n');
  const create = () =>
    owner.call('CreateSandbox', {
      codebase_id: codebase,
      rules: { write: ['**'], none: ['.env'] },
    }) as Promise<Sandbox>;
  [sandbox, other] = (await Promise.all([create(), create()])).map(({ id }) => id) as [string, string];
  keys.agent = await keyOf({ role: 'agent', owner_id: 'ann', sandbox_id: sandbox });
  admin.close();
});

afterAll(async () => {
  for (const client of clients) await client.close().catch(() => undefined);
  owner?.close();
});

const processes = async () => (await owner.call('ListProcesses', { sandbox_id: sandbox, running: true })).processes;

/** The tools of an agent in docs/mcp.md. */
function documentedTools(): string[] {
  const page = readFileSync(new URL('../../docs/mcp.md', import.meta.url), 'utf8');
  const [, section = ''] = /^## Tools of an agent\n([\s\S]*?)^## /m.exec(page) ?? [];
  const cells = Array.from(section.matchAll(/^\| (`[^|]+) \|/gm), ([, cell = '']) => cell);
  return cells.flatMap((cell) => cell.split(', ').map((name) => name.replaceAll('`', '')));
}

describe.each(ERAS)('a client of %s with an agent token', (era) => {
  let client: McpClient;
  beforeAll(async () => {
    client = await open(era, agentUrl(), keys.agent);
  });

  it('gets the same short list in the same order, without ids in the arguments', async () => {
    const tools = await client.tools();
    expect(tools.map(({ name }) => name)).toEqual(documentedTools());
    expect(JSON.stringify(tools)).not.toMatch(/sandbox_id/);
    expect(JSON.stringify(tools).length).toBeLessThan(9500);
  });

  it('is told what it may write and read, without names that the rules hide, and to use no other tools', async () => {
    expect(client.instructions()).toMatch(/a shell or an editor that your client has besides works outside/);
    expect(client.instructions()).toMatch(
      /\(ENOENT\)[\s\S]*does not change on retry[\s\S]*have no network\.\nWritable: everything that no other rule restricts\n/,
    );
    const { id } = await owner.call('CreateSandbox', {
      codebase_id: codebase,
      permissions: [write('docs/'), write('private/in/'), read('src/**'), hide('private/', 9), hide('.env', 9)],
    });
    const told = (await open(era, agentUrl(id), keys.owner)).instructions();
    expect(told).toMatch(/\nWritable: "docs"\nReadable besides: "src\/\*\*"$/);
    expect(told).not.toMatch(/private|env/);
    await owner.call('DestroySandbox', { sandbox_id: id });
    const preset = await owner.call('CreateSandbox', { codebase_id: codebase, preset: 'development' });
    const ofPreset = (await open(era, agentUrl(preset.id), keys.owner)).instructions();
    expect(ofPreset).toMatch(/\nWritable: everything that no other rule restricts\nReadable besides: nothing$/);
    await owner.call('DestroySandbox', { sandbox_id: preset.id });
  });

  it('has a non-zero exit, an order of streams and an end as results', async () => {
    const answer = await client.call('exec', { command: 'echo a; echo b >&2; echo c; exit 3' });
    expect(answer).toMatchObject({ structuredContent: { output: 'a\nb\nc\n', exit_code: 3, running: false } });
    expect([answer.isError ?? false, textOf(answer)]).toEqual([false, 'a\nb\nc\n[exit code 3]']);
  });

  it('ends the command of a cancelled call', async () => {
    const abort = new AbortController();
    const marker = `sleep 3${ERAS.indexOf(era)}1`;
    const call = client.call('exec', { command: marker, yield_after: 60 }, { signal: abort.signal });
    call.catch(() => undefined);
    const running = async () => ((await processes()).some(({ command }) => command === marker) ? true : undefined);
    await eventually('the command', running);
    abort.abort();
    await expect(call).rejects.toThrow();
    await eventually('its end', async () => !(await running()));
  });
});

describe('the tools of an agent', () => {
  let client: McpClient;
  beforeAll(async () => {
    client = await open('2026-07-28', agentUrl(), keys.agent);
  });
  const text = async (name: string, args: object) => textOf(await client.call(name, args));

  it('cut long output in the middle, say so, and read the rest by its offset', async () => {
    const { structuredContent } = await client.call('exec', { command: 'seq 1 20000' });
    const { output, process_id, omitted_bytes, omitted_offset } = structuredContent as Values;
    expect(String(output)).toMatch(
      new RegExp(`^1\\n2\\n[\\s\\S]*\\n.*\\[${omitted_bytes} bytes left out: [\\s\\S]*\\n20000\\n$`),
    );
    expect(Buffer.byteLength(output)).toBeLessThan(20_200);
    let rest = '';
    let offset = Number(omitted_offset);
    while (rest.length < Number(omitted_bytes)) {
      const part = (await client.call('process', { id: process_id, offset })).structuredContent!;
      rest += part.output;
      expect(part).toMatchObject({
        running: false,
        exit_code: 0,
        more_bytes: Number(omitted_bytes) + 10_000 - rest.length,
      });
      offset = Number(part.next_offset);
    }
    const all = Array.from({ length: 20_000 }, (_, at) => `${at + 1}\n`).join('');
    expect(all.slice(Number(omitted_offset))).toBe(rest);
  });

  it('leave a command running after yield_after, and write to it, signal it and wait for it', async () => {
    const command = 'read x; echo got $x; sleep 100';
    const started = await client.call('exec', { command, yield_after: 0.2, stdin: true });
    expect(textOf(started)).toMatch(/still running as process "pr_/);
    const id = started.structuredContent!.process_id;
    expect(await client.call('process', { id, input: 'hello\n' })).toMatchObject({
      structuredContent: { output: 'got hello\n', running: true },
    });
    expect(await client.call('process', { id, signal: 'SIGKILL', wait: 20 })).toMatchObject({
      structuredContent: { running: false, exit_code: 137 },
    });
    expect(await text('process', { id: 'nope' })).toBe('NOT_FOUND: process "nope" does not exist');
  });

  it('keep what a command left in the background', async () => {
    await client.call('exec', { command: 'sleep 77 >/dev/null 2>&1 & echo $! > pid' });
    expect(await text('exec', { command: 'kill -0 $(cat pid) && kill $(cat pid) && echo alive' })).toBe('alive\n');
  });

  it('read, write, edit, move and find files ', async () => {
    expect(await text('file_write', { path: 'b/x.txt', content: '1\n2\n3\n' })).toBe('Successfully wrote to b/x.txt');
    expect(await text('file_read', { path: '/workspace/b/x.txt' })).toBe('1\n2\n3\n');
    expect(await text('file_read', { path: 'b/x.txt', offset: 2, limit: 4 })).toBe('2\n3\n');
    const edits = [{ oldText: '2', newText: 'two' }];
    const diff = await text('file_edit', { path: 'b/x.txt', edits, dryRun: true });
    expect(diff).toContain('@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n');
    expect(await text('file_read', { path: 'b/x.txt' })).toBe('1\n2\n3\n');
    expect(await text('file_edit', { path: 'b/x.txt', edits })).toBe(diff);
    expect(await text('file_read', { path: 'b/x.txt' })).toBe('1\ntwo\n3\n');
    // Clients call tools side by side.
    const names = [...'abcdefgh'];
    await text('file_write', { path: 'b/all', content: names.join('\n') });
    const edit = (name: string) =>
      text('file_edit', { path: 'b/all', edits: [{ oldText: name, newText: name.toUpperCase() }] });
    await Promise.all(names.map(edit));
    expect(await text('file_read', { path: 'b/all' })).toBe('A\nB\nC\nD\nE\nF\nG\nH');
    await text('file_write', { path: 'b/ends', content: 'a\r\nb\nc\r\n' });
    await text('file_edit', { path: 'b/ends', edits: [{ oldText: 'b', newText: 'x' }] });
    expect(await text('file_read', { path: 'b/ends' })).toBe('a\r\nx\nc\r\n');
    await client.call('exec', { command: 'rm b/all b/ends' });
    await client.call('directory_create', { path: 'b/c/d' });
    expect(await text('file_move', { source: 'b/x.txt', destination: 'b/c/y.txt' })).toMatch(/^Successfully moved/);
    expect(await text('file_move', { source: 'src/a.ts', destination: 'b/c/y.txt' })).toMatch(/^ALREADY_EXISTS: /);
    expect(await text('file_list', { path: 'b/c' })).toBe('b/c/d/\nb/c/y.txt (8 B)');
    expect(await text('file_list', { path: 'b', recursive: true })).toBe('b/c/\nb/c/d/\nb/c/y.txt (8 B)');
    expect(await text('file_list', { pattern: '**/*.t{s,xt}', exclude: ['b/c/d'] })).toBe(
      'b/c/y.txt (8 B)\nsrc/a.ts (13 B)',
    );
    expect(await text('file_list', { pattern: '*.none' })).toBe('[nothing]');
    expect(await text('file_info', { path: 'b/c/y.txt' })).toMatch(/^size: 8\n[\s\S]*permissions: 644\naccess: write$/);
    const media = await client.call('file_read_media', { path: 'b/c/y.txt' });
    expect(media.content[0]).toMatchObject({ type: 'resource', resource: { blob: 'MQp0d28KMwo=' } });
    expect(await text('changes_list', { paths: ['b/c/y.txt'], diff: true })).toMatch(/^A b\/c\/y\.txt\n\n[\s\S]*\+two/);
  });

  it('show nothing that a rule hides, and reach nothing outside of the workspace', async () => {
    const hidden = await text('file_read', { path: '.env' });
    expect(hidden).toBe((await text('file_read', { path: '.nop' })).replace('.nop', '.env'));
    expect(await text('file_list', { path: '/workspace' })).not.toContain('.env');
    expect(await text('file_list', { path: '.', pattern: '**' })).not.toContain('.env');
    expect(await text('file_grep', { pattern: 'SECRET' })).toBe('[no matches]');
    expect(await text('access_explain', { path: '.env' })).toMatch(/^NOT_FOUND: /);
    await client.call('exec', { command: 'ln -s / out; ln -s .env env; mkdir -p z' });
    const outside = [
      '/etc/passwd',
      '../etc/passwd',
      '/workspace/../etc/passwd',
      '/workspace2/x',
      'out/etc/passwd',
      'env',
      'a\0b',
    ];
    for (const path of outside) {
      for (const name of ['file_read', 'file_read_media', 'file_info']) {
        if (name === 'file_info' && path === 'env') continue;
        const answer = await client.call(name, { path });
        expect([name, path, answer.isError, /root:|SECRET/.test(textOf(answer))]).toEqual([name, path, true, false]);
      }
    }
    const dots = await client.call('file_write', { path: 'z/../../../tmp/x', content: '' });
    expect(textOf(dots)).toMatch(/^INVALID_ARGUMENT: path must be within \/workspace/);
  });

  it('list a name with a line end on one line', async () => {
    await client.call('exec', { command: 'mkdir n; touch "$(printf \'n/a\\n[FILE] b\')"' });
    expect(await text('file_list', { path: 'n' })).toBe('"n/a\\n[FILE] b" (0 B)');
    expect(await text('file_list', { path: 'n', pattern: '*' })).toBe('"n/a\\n[FILE] b" (0 B)');
    expect(await text('changes_list', { paths: ['n'] })).toBe('A n\nA "n/a\\n[FILE] b"');
  });

  it('refuse wrong arguments as results', async () => {
    for (const [name, args] of [
      ['file_read', {}],
      ['file_read', { path: 1 }],
      ['file_read', { path: 'src/a.ts', offset: 14 }],
      ['file_list', { path: '.', pattern: 'x'.repeat(2000) }],
      ['file_list', { path: '.', pattern: '{a,b}'.repeat(100) }],
      ['file_edit', { path: 'src/a.ts', edits: [{ oldText: '', newText: 'x' }] }],
      ['exec', { command: 'true', yield_after: 1e9 }],
      ['exec', { command: '' }],
      ['process', { id: 'x'.repeat(100_000) }],
    ] as const) {
      expect([name, (await client.call(name, args)).isError]).toEqual([name, true]);
    }
    await expect(client.call('no_such_tool')).rejects.toThrow(/no_such_tool/);
  });
});

describe('50j, 50k, 50l: hostile requests', () => {
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${base()}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${keys.agent}`,
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const call = (name: string, args: object) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  });
  const mine = () => `/v1/sandboxes/${sandbox}/mcp`;

  it('an agent token reaches its sandbox only: no other one, and not the face of its owner', async () => {
    expect(await post(mine(), list)).toMatchObject({ status: 200 });
    const absent = await post('/v1/sandboxes/sb_none/mcp', list);
    const foreign = await post(`/v1/sandboxes/${other}/mcp`, list);
    expect([foreign.status, foreign.text]).toEqual([404, absent.text.replaceAll('sb_none', other)]);
    expect(await post('/mcp', list)).toMatchObject({ status: 403 });
    for (const args of [
      { sandbox_id: other, command: 'id' },
      { command: 'id', sandbox_id: other },
    ]) {
      const { text } = await post(mine(), call('exec', args));
      expect(text).not.toContain(other);
    }
    for (const name of ['sandbox_list', 'changes_commit', 'sandbox_destroy']) {
      expect((await post(mine(), call(name, { sandbox_id: sandbox }))).text).toContain('not found');
    }
    const theirs = await post(mine(), list, { authorization: `Bearer ${keys.other}` });
    expect(theirs.status).toBe(404);
    expect(await post(mine(), list, { authorization: '' })).toMatchObject({ status: 401 });
  });

  it('scopes and limits are those of the operations', async () => {
    const made = await owner.call('CreateKey', {
      name: 'r',
      role: 'agent',
      sandbox_id: sandbox,
      scopes: ['files:read'],
    });
    const reader = { authorization: `Bearer ${made.secret}` };
    expect((await post(mine(), call('file_read', { path: 'src/a.ts' }), reader)).text).toContain('const a');
    const refused = await post(mine(), call('exec', { command: 'id' }), reader);
    expect(refused).toMatchObject({ status: 200 });
    expect(refused.text).toContain('PERMISSION_DENIED');
    await owner.call('RevokeKey', { key_id: made.key!.id });
    expect(await post(mine(), list, reader)).toMatchObject({ status: 401 });
  });

  it('refuses other origins, hosts and methods, and messages that are not one JSON-RPC message', async () => {
    expect(await post(mine(), list, { origin: 'http://evil.example' })).toMatchObject({ status: 403 });
    expect(await post(mine(), list, { 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 403 });
    expect(await post(mine(), list, { 'content-type': 'text/plain' })).toMatchObject({ status: 415 });
    expect((await fetch(`${base()}${mine()}`)).status).toBe(405);
    expect((await fetch(`${base()}${mine()}`, { method: 'DELETE' })).status).toBe(405);
    for (const [body, code] of [
      ['{', -32700],
      ['[]', -32600],
      [JSON.stringify([list, list]), -32600],
      ['1', -32600],
      [JSON.stringify({ ...list, id: 'x'.repeat(10_000) }), -32600],
    ] as const) {
      const { status, text } = await post(mine(), body);
      expect([body.slice(0, 20), status, JSON.parse(text).error?.code]).toEqual([body.slice(0, 20), 400, code]);
    }
    for (const body of [
      '['.repeat(100_000),
      `{"a":${'['.repeat(5000)}`,
      `{"a":[${'1,'.repeat(100_000)}1]}`,
      'x'.repeat(9e6),
    ]) {
      expect(await post(mine(), body)).toMatchObject({ status: 400 });
    }
    for (const message of [
      { ...list, method: 'no/such' },
      { ...list, id: {} },
      { jsonrpc: '1.0' },
      { ...list, params: 'x' },
    ]) {
      expect((await post(mine(), message)).text).toMatch(/"code":-32/);
    }
    expect((await post(mine(), { ...list, id: 2 ** 53 })).status).toBeLessThan(500);
  });

  it('ends the command of a client that vanishes, and of one whose key is revoked', async () => {
    const made = await owner.call('CreateKey', { name: 'v', role: 'agent', sandbox_id: sandbox });
    const abort = new AbortController();
    const command = (seconds: number) => call('exec', { command: `sleep ${seconds}`, yield_after: 60 });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const request = (key: string, seconds: number) =>
      fetch(`${base()}${mine()}`, {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${key}` },
        body: JSON.stringify(command(seconds)),
        signal: abort.signal,
      })
        .then((answer) => answer.text())
        .catch(() => undefined);
    const calls = [request(keys.agent, 501), request(made.secret, 502)];
    const count = async () => (await processes()).filter((each) => /^sleep 50[12]$/.test(each.command)).length;
    await eventually('both', async () => (await count()) === 2);
    await owner.call('RevokeKey', { key_id: made.key!.id });
    abort.abort();
    await Promise.all(calls);
    await eventually('no command', async () => (await count()) === 0);
  });
});

describe('the tools of an orchestrator', () => {
  it('create, work in, fork, roll back, commit and destroy sandboxes', async () => {
    const client = await open('2026-07-28', `${base()}/mcp`, keys.owner);
    const of = async (name: string, args: object) => {
      const answer = await client.call(name, args);
      if (answer.isError) throw new Error(textOf(answer));
      return answer.structuredContent as Values;
    };
    const tools = await client.tools();
    expect(tools.length).toBe(24);
    expect(JSON.stringify(tools).length).toBeLessThan(17_500);
    expect(await of('codebase_list', {})).toMatchObject({ codebases: [{ codebase_id: codebase, name: 'c' }] });
    const { sandbox_id } = await of('sandbox_create', { codebase_id: codebase, rules: { write: ['src/**'] } });
    await of('file_write', { sandbox_id, path: 'src/b.ts', content: 'b\n' });
    await of('checkpoint_create', { sandbox_id, name: 'one' });
    await of('exec', { sandbox_id, command: 'rm src/a.ts' });
    expect(await of('changes_list', { sandbox_id })).toMatchObject({
      changes: [
        { path: 'src/a.ts', change: 'deleted' },
        { path: 'src/b.ts', change: 'added' },
      ],
    });
    const { forks } = await of('sandbox_fork', { sandbox_id, checkpoint: 'one' });
    const [fork] = forks as { sandbox_id: string }[];
    expect(await of('file_read', { sandbox_id: fork!.sandbox_id, path: 'src/a.ts' })).toMatchObject({
      content: 'const a = 1;\n',
    });
    await of('checkpoint_restore', { sandbox_id, checkpoint: 'one' });
    expect(await of('changes_commit', { sandbox_id, all: true, dry_run: true })).toMatchObject({
      committed: false,
      count: 1,
    });
    await of('file_write', { sandbox_id, path: 'src/a.ts', content: '// a\nconst a = 1;\n// end\n' });
    const { hunks } = await of('changes_list', { sandbox_id, paths: ['src/a.ts'], hunks: true });
    const [, version] = /^src\/a\.ts (\S+)\n#0 line 1\n\+\/\/ a\n#1 line 2\n\+\/\/ end\n$/.exec(String(hunks))!;
    const part = `src/a.ts ${version} 1`;
    await expect(of('changes_commit', { sandbox_id, hunks: ['src/a.ts 1'] })).rejects.toThrow(
      /hunks\[0\] must be "PATH/,
    );
    expect(await of('changes_commit', { sandbox_id, hunks: [part] })).toMatchObject({ committed: true, count: 1 });
    await expect(of('changes_commit', { sandbox_id, hunks: [part] })).rejects.toThrow(
      /base_sha256: the codebase has other/,
    );
    await of('changes_discard', { sandbox_id, paths: ['src/a.ts'] });
    expect(await of('file_read', { sandbox_id, path: 'src/a.ts' })).toMatchObject({
      content: 'const a = 1;\n// end\n',
    });
    expect(await of('changes_commit', { sandbox_id, all: true })).toMatchObject({ committed: true, count: 1 });
    await of('exec', { sandbox_id, command: 'mv src/a.ts src/c.ts; echo "// more" >> src/c.ts' });
    const renamed = String((await of('changes_list', { sandbox_id, paths: ['src/c.ts'], hunks: true })).hunks);
    const [, moved] = /^src\/c\.ts (\S+)\nrenamed from src\/a\.ts\n#0 line 3\n\+\/\/ more\n$/.exec(renamed)!;
    const taken = await of('changes_commit', { sandbox_id, hunks: [`src/c.ts ${moved} 0`] });
    expect(taken).toMatchObject({ committed: true, count: 2 });
    expect(await of('changes_discard', { sandbox_id, all: true })).toEqual({ discarded: 0 });
    for (const id of [sandbox_id, fork!.sandbox_id])
      expect(await of('sandbox_destroy', { sandbox_id: id })).toEqual({ destroyed: true });
    await expect(of('exec', { sandbox_id, command: 'id' })).rejects.toThrow(/^NOT_FOUND: /);
    const { sandboxes } = await of('sandbox_list', { codebase_id: codebase });
    expect((sandboxes as { sandbox_id: string }[]).map((each) => each.sandbox_id).sort()).toEqual(
      [other, sandbox].sort(),
    );
  });
});

describe('paddock mcp', () => {
  const CLI = resolve(import.meta.dirname, '../../dist/paddock.mjs');
  const env = () => ({
    PATH: process.env.PATH!,
    PADDOCK_URL: base(),
    PADDOCK_KEY: keys.owner,
    HOME: served.state.directory,
  });
  const commands = async () => (await processes()).map(({ command }) => command);

  it.each(ERAS)('forwards requests of %s side by side, cancels, and ends what it runs with its client', async (era) => {
    const client = await connectStdio(era, [CLI, 'mcp', '--sandbox', sandbox], env());
    const mark = `6${ERAS.indexOf(era)}`;
    const abort = new AbortController();
    const slow = client.call('exec', { command: `sleep ${mark}1`, yield_after: 50 }, { signal: abort.signal });
    slow.catch(() => undefined);
    const left = client.call('exec', { command: `sleep ${mark}2`, yield_after: 50 });
    left.catch(() => undefined);
    const names = (await client.tools()).map(({ name }) => name);
    expect(names).toContain('exec');
    expect(textOf(await client.call('exec', { command: 'echo ä; exit 2' }))).toBe('ä\n[exit code 2]');
    expect(await client.call('exec', { command: `sleep ${mark}3`, yield_after: 0 })).toMatchObject({
      structuredContent: { running: true },
    });
    const mine = async () => (await commands()).filter((each) => each.startsWith(`sleep ${mark}`)).sort();
    await eventually('three', async () => (await mine()).length === 3);
    abort.abort();
    await expect(slow).rejects.toThrow();
    await eventually('two', async () => (await mine()).length === 2);
    expect(await mine()).toEqual([`sleep ${mark}2`, `sleep ${mark}3`]);
    await client.close();
    await eventually('none', async () => (await mine()).length === 0);
  });

  it('uploads a directory, and says where its changes are', async () => {
    const directory = join(served.state.directory, 'project');
    await mkdir(directory);
    await writeFile(join(directory, 'a.txt'), 'a\n');
    let said = '';
    const args = [CLI, 'mcp', '--from', directory, '--rule', 'write:*.txt'];
    const client = await connectStdio('2026-07-28', args, env(), (text) => {
      said += text;
    });
    expect(textOf(await client.call('file_read', { path: 'a.txt' }))).toBe('a\n');
    expect(textOf(await client.call('file_write', { path: 'b.txt', content: 'b' }))).toMatch(/^Success/);
    expect((await client.call('file_write', { path: 'b.md', content: 'b' })).isError).toBe(true);
    await client.close();
    const id = await eventually('the end', async () => /paddock commit (sb_\w+)/.exec(said)?.[1]);
    expect(said).toMatch(/1 changes are in the sandbox/);
    expect(await owner.call('GetSandbox', { sandbox_id: id })).toMatchObject({ status: 'SANDBOX_STOPPED' });
    await owner.call('DestroySandbox', { sandbox_id: id, discard: true });
  });

  it('answers lines that are no message, writes nothing but messages, and removes a sandbox without changes', async () => {
    const directory = join(served.state.directory, 'empty');
    await mkdir(directory);
    const child = spawn(process.execPath, [CLI, 'mcp', '--from', directory], { env: env(), stdio: 'pipe' });
    let out = '';
    child.stdout.on('data', (data: Buffer) => {
      out += data;
    });
    const answers = () =>
      out
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    child.stdin.write(
      '{\n[]\n\n"x"\n{"jsonrpc":"2.0","id":7,"result":{}}\n{"jsonrpc":"2.0","id":"b","method":"no/such"}\n',
    );
    await eventually('answers', async () => answers().length === 4);
    expect(answers().map(({ id, error }) => [id, error.code])).toEqual([
      [null, -32_700],
      [null, -32_600],
      [null, -32_600],
      ['b', -32_601],
    ]);
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(143);
    // A client that reads no more.
    const deaf = spawn(process.execPath, [CLI, 'mcp', '--from', directory], { env: env(), stdio: 'pipe' });
    deaf.stdin.write('{}\n[]\n');
    await once(deaf.stdout, 'data');
    deaf.stdout.destroy();
    deaf.stdin.write('[]\n');
    await once(deaf, 'exit');
    const { sandboxes } = await owner.call('ListSandboxes', {});
    expect(sandboxes.map(({ id }) => id).sort()).toEqual([other, sandbox].sort());
  });

  it('tells a client that the server is not there, and what is wrong with its arguments', async () => {
    const run = async (args: string[], url = base()) => {
      const child = spawn(process.execPath, [CLI, 'mcp', ...args], {
        env: { ...env(), PADDOCK_URL: url },
        stdio: 'pipe',
      });
      child.stdin.end();
      const [out, error] = await Promise.all([child.stdout.toArray(), child.stderr.toArray()]);
      return [Buffer.concat(out).toString(), Buffer.concat(error).toString()];
    };
    expect(await run([])).toEqual(['', expect.stringMatching(/needs --sandbox or --from/)]);
    expect(await run(['--sandbox', 'sb_none'])).toEqual(['', expect.stringMatching(/sb_none/)]);
    expect(await run(['--sandbox', sandbox], 'http://127.0.0.1:1')).toEqual(['', expect.stringMatching(/^paddock: /)]);
  });
});
