import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Dialer } from '../../../../lib/network/ports/dialer.ts';
import { isLinkToken } from '../../../../lib/network/ports/link-token.ts';
import type { Ports } from '../../../../lib/port-services.ts';
import { createPorts } from '../../../../lib/sandboxes/ports/opened-ports.ts';
import type { SandboxKeeper } from '../../../../lib/sandboxes/sandboxes.ts';
import { createRequest, Fixture, forkOf, never } from '../fixture.ts';

let fixture: Fixture;
let sandboxes: SandboxKeeper;
let ports: Ports;
let id: string;
const dialer = new Dialer(() => {
  throw new Error('not used');
});

beforeEach(async () => {
  fixture = new Fixture();
  sandboxes = await fixture.start();
  ports = createPorts(fixture.context, dialer);
  await fixture.addCodebase();
  ({ id } = await sandboxes.create(createRequest()));
});
afterEach(() => fixture.remove());

const open = (fields: Partial<Parameters<Ports['open']>[0]> = {}) =>
  ports.open({ sandbox_id: id, port: 8000, access: '', expires_in: 0, ...fields });
const list = async () => (await ports.list({ sandbox_id: id, opened: true, listening: false }, never)).ports;
const stored = () => fixture.metadata.sandboxes.get(id)?.ports;

it('opens, lists and closes ports, in the record of the sandbox, which is not shown', async () => {
  const url = `/v1/sandboxes/${id}/ports/8000/proxy/`;
  const { link_token, ...opened } = await open();
  expect(link_token).toBe('');
  expect(opened).toMatchObject({ sandbox_id: id, port: 8000, url, access: 'key', expires_at: 0 });
  await open({ port: 80, expires_in: 60 });
  expect(ports.get(id, 8000)).toEqual(opened);
  expect((await list()).map(({ port }) => port)).toEqual([80, 8000]);
  expect(sandboxes.get(id)).not.toHaveProperty('ports');
  await ports.close(id, 80);
  expect(stored()?.map(({ port }) => port)).toEqual([8000]);
  await expect(ports.close(id, 80)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(open({ sandbox_id: 'sb_none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('stores the hash of a link token, which another opening replaces', async () => {
  const first = await open({ access: 'link' });
  expect(first.link_token).toMatch(/^pdl_[\w-]{22}$/);
  expect(JSON.stringify(stored())).not.toContain(first.link_token);
  expect(isLinkToken(first.link_token, stored()![0]!.sha256!)).toBe(true);
  const second = await open({ access: 'link' });
  expect(isLinkToken(first.link_token, stored()![0]!.sha256!)).toBe(false);
  expect(isLinkToken(second.link_token, stored()![0]!.sha256!)).toBe(true);
  await open({ access: 'key' });
  expect(stored()).toMatchObject([{ port: 8000, access: 'key' }]);
  expect(stored()![0]).not.toHaveProperty('sha256');
});

it('forgets a port that has expired', async () => {
  await open({ expires_in: 60 });
  fixture.elapsed = 61_000;
  expect(await list()).toEqual([]);
  expect(() => ports.get(id, 8000)).toThrow('is not open');
});

it('gives no fork the ports of its parent', async () => {
  await open();
  const [fork] = await sandboxes.fork(forkOf(id));
  expect(fixture.metadata.sandboxes.get(fork!.sandbox!.id)).not.toHaveProperty('ports');
});

it('refuses more ports than a sandbox may have, but not the same one again', async () => {
  for (let port = 1; port <= 64; port++) await open({ port });
  await expect(open({ port: 65 })).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  await open({ port: 64 });
});

it('tells the uses of a port to end when it is closed, opened anew or expires, and counts them', async () => {
  const ends: string[] = [];
  const use = () => ports.find(id, 8000)!.use(({ message }) => ends.push(message));
  await open();
  use();
  use().end();
  await open();
  expect(ends).toEqual(['port 8000 was closed']);
  use();
  await ports.close(id, 8000);
  expect(ends).toHaveLength(2);
  expect(ports.find(id, 8000)).toBeUndefined();
  expect(ports.find('sb_none', 8000)).toBeUndefined();
  await open({ expires_in: 1 });
  use();
  fixture.elapsed = 2000;
  await vi.waitFor(() => expect(ends.at(-1)).toBe('port 8000 has expired'), { timeout: 30_000 });
  await open();
  for (let count = 0; count < 128; count++) use();
  expect(use).toThrow('port 8000 has 128 connections, the maximum');
});

it('keeps opened ports and their tokens across a restart, and forgets them with the sandbox', async () => {
  const { link_token } = await open({ access: 'link' });
  await sandboxes.close();
  sandboxes = await fixture.start();
  await sandboxes.recover();
  ports = createPorts(fixture.context, dialer);
  expect(ports.find(id, 8000)?.accepts(link_token)).toBe(true);
  await sandboxes.destroy(id);
  expect(ports.find(id, 8000)).toBeUndefined();
});
