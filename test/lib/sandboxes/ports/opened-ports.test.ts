import { afterEach, beforeEach, expect, it } from 'vitest';
import { isLinkToken } from '../../../../lib/network/ports/link-token.ts';
import type { Ports } from '../../../../lib/port-services.ts';
import { createPorts } from '../../../../lib/sandboxes/ports/opened-ports.ts';
import type { SandboxKeeper } from '../../../../lib/sandboxes/sandboxes.ts';
import { createRequest, Fixture, forkOf, never } from '../fixture.ts';

let fixture: Fixture;
let sandboxes: SandboxKeeper;
let ports: Ports;
let id: string;

beforeEach(async () => {
  fixture = new Fixture();
  sandboxes = await fixture.start();
  ports = createPorts(fixture.context);
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
