import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RestClient } from '../contract/rest-client.ts';
import { eventually } from '../contract/scene.ts';
import { serverOfFile } from '../contract/use-server.ts';

const served = serverOfFile();
let rest: RestClient;
let sandbox_id: string;

/** Four files with other lines than their codebase's: each diff takes seconds. */
beforeAll(async () => {
  rest = new RestClient(served.server.httpAddress);
  const { id: codebase_id } = await rest.call('CreateCodebase', { name: 'c', owner_id: 'ann' });
  sandbox_id = (await rest.call('CreateSandbox', { codebase_id, rules: { write: ['**'] } })).id;
  const files = (factor: number) =>
    rest.call('Exec', {
      sandbox_id,
      command: `for f in 1 2 3 4; do awk 'BEGIN { for (i = 0; i < 550000; i++) print (i * ${factor}) % 550000 }' >$f; done`,
    });
  expect(await files(7919)).toMatchObject({ exit_code: 0 });
  expect(await rest.call('Commit', { sandbox_id })).toMatchObject({ count: 4 });
  const command = `n=$(printf 'a%.0s' $(seq 250)); for d in 1 2 3 4; do mkdir d$d; (cd d$d; touch $(seq -f "$n%04g" 4000)); done`;
  expect(await files(104_729)).toMatchObject({ exit_code: 0 });
  expect(await rest.call('Exec', { sandbox_id, command })).toMatchObject({ exit_code: 0 });
});

afterAll(async () => {
  rest?.close();
  expect(await served.server.stop()).toBe(0);
});

const patch = (paths: readonly string[], signal?: AbortSignal) => {
  const query = new URLSearchParams({ format: 'patch' });
  for (const path of paths) query.append('paths', path);
  const url = `http://${served.server.httpAddress}/v1/sandboxes/${sandbox_id}/changes?${query}`;
  return fetch(url, { ...(signal && { signal }) }).then((answer) => answer.text());
};

/** Minutes of work in a thread. */
const search = (signal: AbortSignal) =>
  fetch(`http://${served.server.httpAddress}/v1/sandboxes/${sandbox_id}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'file_list',
        arguments: {
          path: '.',
          pattern: '**',
          exclude: Array.from({ length: 100 }, (_, n) => `**/*${'a'.repeat(120)}${'?'.repeat(n % 8)}b*`),
        },
      },
    }),
    signal,
  }).then(async (answer) => `answered ${(await answer.text()).length} characters`);

/** The ids of the threads that were not there before, and have used a tenth of a second of CPU time. */
function working(before: ReadonlySet<string>): string[] {
  return readdirSync(`/proc/${served.server.pid}/task`).filter((id) => {
    if (before.has(id)) return false;
    try {
      return (
        Number(readFileSync(`/proc/${served.server.pid}/task/${id}/stat`, 'utf8').split(') ')[1]!.split(' ')[11]) > 10
      );
    } catch {
      return false;
    }
  });
}
const threads = () => new Set(readdirSync(`/proc/${served.server.pid}/task`));

it('the diff of a client that leaves ends', async () => {
  const before = threads();
  const client = new AbortController();
  const answer = patch(['1', '2', '3', '4'], client.signal).catch(() => 'left');
  const [thread] = await eventually('the thread of a diff', async () => {
    const found = working(before);
    return found.length > 0 ? found : undefined;
  });
  client.abort();
  expect(await answer).toBe('left');
  await eventually('its end', async () => !threads().has(thread!));
});

it('searches of an owner do not keep its exports waiting', async () => {
  const before = threads();
  const client = new AbortController();
  const searches = [1, 2].map(() => search(client.signal).catch(() => 'left'));
  await eventually('two searches', async () => working(before).length >= 2);
  expect(await patch(['1'])).toMatch(/^diff --git a\/1 b\/1\n/);
  expect(working(before).length).toBeGreaterThanOrEqual(2);
  client.abort();
  expect(await Promise.all(searches)).toEqual(['left', 'left']);
});
