import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_LIMITS as NO_OWNER_LIMITS } from '../../../lib/limits/limits.ts';
import { OwnerDeltas } from '../../../lib/sandboxes/host/owner-deltas.ts';
import type { SandboxKeeper } from '../../../lib/sandboxes/sandboxes.ts';
import { HOME, OwnerShare } from '../../../lib/workspaces/delta/owner-bytes.ts';
import { createRequest, Fixture, forkOf, NO_UPDATE } from './fixture.ts';

let fixture: Fixture;
let sandboxes: SandboxKeeper;
let limit: number;

/** Starts a server; called again, the next one. */
async function start(): Promise<void> {
  const owners = {
    of: () => ({ ...NO_OWNER_LIMITS, delta_bytes: limit }),
    placeOf: (_owner: string, name: string) => `limits.per_owner.${name}`,
  };
  fixture.settings.owners = owners;
  fixture.ownerDeltas = new OwnerDeltas(owners);
  sandboxes = await fixture.start();
}

beforeEach(async () => {
  limit = 100;
  fixture = new Fixture();
  await start();
  await fixture.addCodebase('cb_1', 'ann');
  await fixture.addCodebase('cb_2', 'bob');
  await fixture.addCodebase('cb_3', '');
});

afterEach(() => fixture.remove());

const create = async (codebase_id = 'cb_1') => (await sandboxes.create(createRequest({ codebase_id }))).id;
const storedBytes = (id: string) => fixture.metadata.sandboxes.get(id)?.delta_bytes;
/** The request worker counts a delta. `part`: HOME; absent: the workspace. */
const count = (id: string, bytes: number, part?: number) => {
  new OwnerShare(fixture.mount.attached.get(id)!.ownerBytes!, part).count(bytes);
};
const FULL = 'the sandboxes of owner "ann" keep 100 bytes, the most is 100 (limits.per_owner.delta_bytes)';
const refused = (bytes: number) => ({ code: 'RESOURCE_EXHAUSTED', message: FULL.replace('100', String(bytes)) });

async function nextServer(): Promise<void> {
  await fixture.metadata.close();
  fixture.crash();
  await start();
  await (await sandboxes.recover())();
}

describe('an owner that keeps as many bytes as it may', () => {
  it('gets no sandbox and starts none until a sandbox is destroyed; others do', async () => {
    const [first, second] = [await create(), await create()];
    await sandboxes.stop(first);
    count(second, 99);
    const third = await create();
    count(second, 101);
    await expect(create()).rejects.toMatchObject(refused(101));
    await expect(sandboxes.start(first)).rejects.toMatchObject(refused(101));
    expect(sandboxes.get(first).status).toBe('SANDBOX_STOPPED');
    expect((await sandboxes.start(third)).status).toBe('SANDBOX_RUNNING');
    const others = [await create('cb_2'), await create('cb_3')];
    expect(others.map((id) => fixture.mount.attached.get(id)!.ownerBytes?.owner[1])).toEqual([100n, undefined]);
    await sandboxes.destroy(second);
    expect((await sandboxes.start(first)).status).toBe('SANDBOX_RUNNING');
    expect(await create()).toMatch(/^sb_/);
  });

  it('gets as many forks as there is room for, each counted with the bytes that it starts with', async () => {
    const parent = await create();
    const freeze = fixture.mount.freeze.bind(fixture.mount);
    fixture.mount.freeze = async (id) => ({ ...(await freeze(id)), bytes: 30 });
    count(parent, 30);
    const forks = await sandboxes.fork(forkOf(parent, { count: 4 }));
    expect(forks.map(({ sandbox }) => sandbox && storedBytes(sandbox.id))).toEqual([30, 30, undefined, undefined]);
    expect(forks[3]?.error).toEqual({ code: 8, message: FULL.replace('keep 100', 'would keep 120') });
    expect(forks[0]?.sandbox).not.toHaveProperty('delta_bytes');
  });
});

describe('the bytes of a sandbox', () => {
  it('are stored when it stops, and count for the next server after a kill', async () => {
    const id = await create();
    count(id, 100);
    await sandboxes.stop(id);
    expect(storedBytes(id)).toBe(100);
    await nextServer();
    await expect(create()).rejects.toMatchObject(refused(100));
    await sandboxes.destroy(id);
    expect(await create()).toMatch(/^sb_/);
  });

  it('are those of its workspace and of its HOME, and none once it is destroyed', async () => {
    const [stopped, running] = [await create(), await create()];
    count(stopped, 30);
    count(stopped, 50, HOME);
    await sandboxes.stop(stopped);
    count(running, 25, HOME);
    await expect(create()).rejects.toMatchObject(refused(105));
    await sandboxes.close();
    await nextServer();
    await expect(create()).rejects.toMatchObject(refused(105));
    expect(sandboxes.get(stopped)).not.toHaveProperty('home_bytes');
    await sandboxes.destroy(stopped);
    count(running, 100, HOME);
    await expect(create()).rejects.toMatchObject(refused(100));
    await sandboxes.destroy(running);
    expect(await create()).toMatch(/^sb_/);
  });

  it('are stored at shutdown, also of running sandboxes, which start again', async () => {
    const [stopped, running] = [await create(), await create()];
    count(stopped, 70);
    await sandboxes.stop(stopped);
    count(running, 200);
    await sandboxes.close();
    expect([storedBytes(stopped), storedBytes(running)]).toEqual([70, 200]);
    await nextServer();
    expect(sandboxes.get(running).status).toBe('SANDBOX_RUNNING');
    await expect(create()).rejects.toMatchObject(refused(270));
    count(running, 0);
    await sandboxes.update({ sandbox_id: running, ...NO_UPDATE, labels: { a: 'b' } });
    expect(storedBytes(running)).toBe(0);
    expect(await create()).toMatch(/^sb_/);
  });

  it('are unknown in records of older servers', async () => {
    const id = await create();
    const { delta_bytes: _, ...older } = fixture.metadata.sandboxes.get(id)!;
    await fixture.metadata.sandboxes.put(older);
    await nextServer();
    expect(await create()).toMatch(/^sb_/);
    count(id, 100);
    await expect(create()).rejects.toMatchObject(refused(100));
  });
});
