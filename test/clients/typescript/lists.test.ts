import { expect, it } from 'vitest';
import { Paddock, Sandbox } from '../../../clients/typescript/src/index.ts';
import { fakeServer, json } from './fake-server.ts';

const page = (id: string, next: string) =>
  json({ sandboxes: [{ id, status: 'SANDBOX_RUNNING' }], next_page_token: next });

it('lists ask for a page when its elements are needed, and have the objects of get', async () => {
  const { url, seen } = await fakeServer(page('sb_1', 'more'), page('sb_2', ''));
  const list = new Paddock({ url }).sandboxes.list({ labels: { team: 'a' }, status: 'running' });
  const { value: first } = await list.next();
  expect(first).toBeInstanceOf(Sandbox);
  expect([(first as Sandbox).id, (first as Sandbox).status, seen.length]).toEqual(['sb_1', 'running', 1]);
  expect(await list.next()).toMatchObject({ value: { id: 'sb_2' } });
  expect(await list.next()).toEqual({ done: true, value: undefined });
  const query = '/v1/sandboxes?labels.team=a&status=SANDBOX_RUNNING&page_size=1000';
  expect(seen.map((each) => each.url)).toEqual([query, `${query}&page_token=more`]);
});

it('a loop that is left asks for nothing more', async () => {
  const { url, seen } = await fakeServer(page('sb_1', 'more'));
  for await (const _ of new Paddock({ url }).sandboxes.list()) break;
  expect(seen.length).toBe(1);
});
