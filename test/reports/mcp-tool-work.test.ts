import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RestClient } from '../contract/rest-client.ts';
import { eventually } from '../contract/scene.ts';
import { serverOfFile } from '../contract/use-server.ts';

const served = serverOfFile();
let rest: RestClient;
let sandbox_id: string;

beforeAll(async () => {
  rest = new RestClient(served.server.httpAddress);
  const { id: codebase_id } = await rest.call('CreateCodebase', { name: 'c', owner_id: 'ann' });
  sandbox_id = (await rest.call('CreateSandbox', { codebase_id, rules: { write: ['**'] } })).id;
  const command = `mkdir names; cd names; n=$(printf 'a%.0s' $(seq 250)); touch $(seq -f "$n%04g" 4000)`;
  expect(await rest.call('Exec', { sandbox_id, command })).toMatchObject({ exit_code: 0 });
});

afterAll(() => rest?.close());

const call = async (path: string, name: string, args: object, signal?: AbortSignal) => {
  const answer = await fetch(`http://${served.server.httpAddress}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    ...(signal && { signal }),
  });
  return (await answer.text()).replaceAll('\\"', '"');
};

/** Minutes of work: each pattern is compared with each name from each of its characters. */
const search = (signal?: AbortSignal) => {
  const pattern = (n: number) => `*${'a'.repeat(120)}${'?'.repeat(n % 8)}b*`;
  const exclude = Array.from({ length: 100 }, (_, n) => `**/${pattern(n)}`);
  return call(`/v1/sandboxes/${sandbox_id}/mcp`, 'file_list', { path: '.', pattern: '**', exclude }, signal);
};

/** Threads by id, with the CPU time that each has used, in ticks. */
function threads(): Map<string, number> {
  const found = new Map<string, number>();
  for (const id of readdirSync(`/proc/${served.server.pid}/task`)) {
    try {
      const fields = readFileSync(`/proc/${served.server.pid}/task/${id}/stat`, 'utf8').split(') ')[1]!.split(' ');
      found.set(id, Number(fields[11]));
    } catch {
      // It has ended.
    }
  }
  return found;
}

/** Starts the thread of searches, which waits for the next one. Loading its script takes as much CPU time as a search. */
async function threadOfSearches(): Promise<string[]> {
  const before = threads();
  await call(`/v1/sandboxes/${sandbox_id}/mcp`, 'file_list', { path: '.', pattern: '*' });
  return [...threads().keys()].filter((id) => !before.has(id));
}

/** The id of the thread, of those that wait, that has used half a second since. */
function searching(waiting: readonly string[]): Promise<string> {
  const before = threads();
  const isBusy = ([id, ticks]: [string, number]) => waiting.includes(id) && ticks - before.get(id)! > 50;
  return eventually('a thread that searches', async () => [...threads()].find(isBusy)?.[0]);
}

it('the search of a client that leaves ends, and requests are served meanwhile', async () => {
  const waiting = await threadOfSearches();
  const client = new AbortController();
  const answer = search(client.signal).catch(() => 'left');
  const thread = await searching(waiting);
  await rest.call('GetSandbox', { sandbox_id });
  expect(threads().has(thread)).toBe(true);
  client.abort();
  await eventually('its end', async () => !threads().has(thread));
  expect(await answer).toBe('left');
});

it.each([
  ['changes_discard', 'paths'],
  ['changes_commit', 'paths'],
])('%s with an empty list of paths is refused', async (name) => {
  await rest.call('Exec', { sandbox_id, command: 'echo x > kept' });
  const text = await call('/mcp', name, { sandbox_id, paths: [] });
  expect(text).toContain('INVALID_ARGUMENT: paths must name at least one path; use all: true for all changes');
  expect(await call('/mcp', name, { sandbox_id, paths: ['kept'], all: true })).toContain('INVALID_ARGUMENT: all must');
  const { changes } = await rest.call('ListChanges', { sandbox_id, paths: ['kept'] });
  expect(changes).toHaveLength(1);
});

it.each(['changes_discard', 'changes_commit'])('%s without paths does nothing, unless all is true', async (name) => {
  await rest.call('Exec', { sandbox_id, command: 'echo x > lost' });
  for (const args of [{}, { all: false }, { exclude: ['names'] }]) {
    const text = await call('/mcp', name, { sandbox_id, ...args });
    expect(text).toContain('INVALID_ARGUMENT: paths must name at least one path; use all: true for all changes');
  }
  expect((await rest.call('ListChanges', { sandbox_id, paths: ['lost'] })).changes).toHaveLength(1);
  const all = await call('/mcp', name, { sandbox_id, all: true, exclude: ['names'] });
  expect(all).toMatch(/"(?:discarded|count)":\d/);
  expect((await rest.call('ListChanges', { sandbox_id, paths: ['lost'] })).changes).toEqual([]);
});

it('a call may be as long as the requests of the operation behind its tool', async () => {
  const long = Array.from({ length: 200 }, (_, n) => `${'p/'.repeat(250)}${n}`);
  const { codebase_id } = await rest.call('GetSandbox', { sandbox_id });
  const created = await call('/mcp', 'sandbox_create', { codebase_id, rules: { read: long } });
  expect(created).toContain('"status":"running"');
  expect(await call('/mcp', 'changes_commit', { sandbox_id, paths: long, dry_run: true })).toContain('"count":0');
  const agent = `/v1/sandboxes/${sandbox_id}/mcp`;
  expect(await call(agent, 'changes_list', { paths: long })).not.toContain('-32600');
  for (const name of ['file_list', 'no_tool']) {
    const answer = await call(agent, name, { path: '.', paths: long });
    expect(answer).toContain('a message of this kind must have at most 65536 bytes');
  }
});

it('changes are named by the paths that the other tools show', async () => {
  await rest.call('Exec', { sandbox_id, command: 'echo x > one; echo x > two' });
  expect(await call('/mcp', 'changes_discard', { sandbox_id, paths: ['/workspace/one'] })).toContain('"discarded":1');
  expect(await call('/mcp', 'changes_discard', { sandbox_id, all: true, exclude: ['names'] })).toMatch(
    /"discarded":\d/,
  );
  expect((await rest.call('ListChanges', { sandbox_id, paths: ['one', 'two'] })).changes).toEqual([]);
});

it('a server that is told to end does so in the middle of a search', async () => {
  const waiting = await threadOfSearches();
  const answer = search().catch(() => 'ended');
  await searching(waiting);
  const began = performance.now();
  expect(await served.server.stop()).toBe(0);
  // Calls have 3 s to end by themselves; the search takes minutes.
  expect(performance.now() - began).toBeLessThan(20_000);
  await answer;
});
