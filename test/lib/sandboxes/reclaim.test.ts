import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Sandbox } from '../../../lib/contract/messages.ts';
import { Deferred } from '../../../lib/fuse/connection/deferred.ts';
import { removeTree } from '../../../lib/host-tree/remove-tree.ts';
import { unlimitedOwners } from '../../../lib/limits/stored-limits.ts';
import type { SandboxKeeper } from '../../../lib/sandboxes/sandboxes.ts';
import { DirectMount } from './direct-mount.ts';
import { createRequest, Fixture, forkOf } from './fixture.ts';

/** Called before the reclaimer reads the journal of a delta. */
const hooks = vi.hoisted(() => ({ reading: async (_delta: string): Promise<void> => {} }));

vi.mock('../../../lib/workspaces/delta/layers/layers-on-disk.ts', async (original) => {
  const layers = await original<typeof import('../../../lib/workspaces/delta/layers/layers-on-disk.ts')>();
  return {
    ...layers,
    layersOfDelta: async (delta: string) => {
      await hooks.reading(delta);
      return layers.layersOfDelta(delta);
    },
  };
});

let fixture: Fixture;
let mount: DirectMount;
let sandboxes: SandboxKeeper;

async function start(): Promise<void> {
  mount = new DirectMount();
  fixture.mount = mount;
  sandboxes = await fixture.start();
  mkdirSync(join(fixture.folder, 'codebases/cb_1'), { recursive: true });
  await fixture.addCodebase();
}

beforeEach(async () => {
  fixture = new Fixture();
  fixture.settings.owners = unlimitedOwners(0);
  fixture.maxDelta = 0;
  await start();
});

afterEach(async () => {
  hooks.reading = async () => {};
  await sandboxes.close();
  fixture.remove();
});

const create = () => sandboxes.create(createRequest({ permissions: [WRITE] }));
const WRITE = { pattern: '**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 } as const;

async function fork(of: Sandbox, checkpoint = ''): Promise<Sandbox> {
  return (await sandboxes.fork(forkOf(of.id, { checkpoint })))[0]!.sandbox!;
}

const layers = () => readdirSync(fixture.layout.layers);

/** Asks for it, and waits until it and what it asked for again are done. */
async function reclaimed(): Promise<void> {
  fixture.context.reclaimLayers();
  await fixture.context.layers.done;
}

describe('a fork that is admitted while layers are reclaimed', () => {
  it('keeps its files when its parent is rolled back before the parent is read', async () => {
    const parent = await create();
    mount.write(parent.id, 'file', 'first');
    await sandboxes.createCheckpoint(parent.id, 'first');
    mount.write(parent.id, 'file', 'second');
    // Frozen by itself, so that the layer is there before the layers are listed.
    const unused = await fork(parent);
    await sandboxes.destroy(unused.id);
    await reclaimed();
    let forked: Sandbox | undefined;
    // So that its journal is read again.
    mount.write(parent.id, 'other', 'other');
    hooks.reading = async (delta) => {
      if (forked !== undefined || !delta.endsWith(parent.id)) return;
      forked = {} as Sandbox;
      forked = await fork(parent);
      await sandboxes.rollback(parent.id, 'first');
    };
    await reclaimed();
    expect(mount.read(parent.id, 'file')).toBe('first');
    expect(mount.read(forked!.id, 'file')).toBe('second');
    await sandboxes.close();
    await start();
    await (await sandboxes.recover())();
    expect(mount.read(forked!.id, 'file')).toBe('second');
  });

  it('is not admitted between the decision and the removal', async () => {
    const parent = await create();
    mount.write(parent.id, 'file', 'first');
    await sandboxes.createCheckpoint(parent.id, 'first');
    await Promise.all(
      Array.from({ length: 30 }, async (_, n) => {
        mount.write(parent.id, 'file', `change ${n}`);
        const reclaim = reclaimed();
        const forking = fork(parent);
        const back = sandboxes.rollback(parent.id, 'first');
        const [forked] = await Promise.all([forking, back, reclaim]);
        expect(mount.read(forked.id, 'file')).toMatch(/^(change \d+|first)$/);
        if (n % 2 === 0) await sandboxes.destroy(forked.id);
      }),
    );
    await reclaimed();
    for (const { id } of sandboxes.list({ codebase_id: 'cb_1', page_size: 100, page_token: '' }).sandboxes) {
      await sandboxes.destroy(id);
    }
    await reclaimed();
    expect(layers()).toEqual([]);
  });
});

describe('a layer that is missing or damaged', () => {
  it('does not prevent other layers from being reclaimed', async () => {
    const [broken, whole] = [await create(), await create()];
    for (const { id } of [broken, whole]) {
      mount.write(id, 'file', 'first');
      await sandboxes.createCheckpoint(id, 'first');
      mount.write(id, 'file', 'second');
      await sandboxes.createCheckpoint(id, 'second');
    }
    const [gone] = fixture.metadata.sandboxes.get(broken.id)!.checkpoints!;
    rmSync(join(fixture.layout.layers, gone!.layer), { recursive: true });
    const [, second] = fixture.metadata.sandboxes.get(whole.id)!.checkpoints!;
    writeFileSync(join(fixture.layout.layers, second!.layer, 'index'), 'not an index');
    mkdirSync(join(fixture.layout.layers, 'sb_nobody.0'));
    await reclaimed();
    expect(layers()).not.toContain('sb_nobody.0');
    // What the damaged one may need is kept.
    const { checkpoints } = fixture.metadata.sandboxes.get(whole.id)!;
    for (const { layer } of checkpoints!) expect(layers()).toContain(layer);
  });

  it('whose removal a kill interrupted is removed by the next server', async () => {
    const { id } = await create();
    mount.write(id, 'file', 'file');
    await sandboxes.createCheckpoint(id, 'c');
    await sandboxes.deleteCheckpoint(id, 'c');
    mkdirSync(join(fixture.layout.layers, 'sb_gone.0'));
    renameSync(join(fixture.layout.layers, 'sb_gone.0'), join(fixture.layout.layers, '.removed-sb_gone.0'));
    await reclaimed();
    expect(layers().filter((name) => name.includes('gone'))).toEqual([]);
    expect(mount.read(id, 'file')).toBe('file');
  });
});

describe('the removal of a destroyed sandbox that a kill interrupts', () => {
  it.each(['deltas', 'layers'] as const)('is finished by the next server: of its %s', async (which) => {
    const kept = await create();
    mount.write(kept.id, 'file', 'kept');
    const { id } = await create();
    for (const name of ['a', 'b']) mount.write(id, name, 'x'.repeat(70_000));
    const begun = new Deferred<void>();
    fixture.removeTree = async (path) => {
      if (!path.startsWith(fixture.layout[which])) return removeTree(path);
      const [first] = readdirSync(path);
      rmSync(join(path, first!), { recursive: true });
      begun.resolve();
      return new Promise(() => {});
    };
    void sandboxes.destroy(id);
    await begun.promise;
    expect(readdirSync(fixture.layout[which]).filter((name) => name.startsWith(id))).toHaveLength(1);
    fixture.removeTree = removeTree;
    mount = new DirectMount();
    fixture.mount = mount;
    sandboxes = await fixture.start();
    await (await sandboxes.recover())();
    await vi.waitUntil(() => fixture.context.leftovers.size === 0, { timeout: 30_000 });
    await reclaimed();
    expect(readdirSync(fixture.layout.deltas)).toEqual([kept.id]);
    expect(layers().filter((name) => name.startsWith(id))).toEqual([]);
    expect(mount.read(kept.id, 'file')).toBe('kept');
  });
});

it('reads the journals that have changed since the last time, and no others', async () => {
  const [first, second] = [await create(), await create()];
  for (const { id } of [first, second]) mount.write(id, 'file', id);
  await reclaimed();
  const read: string[] = [];
  hooks.reading = async (delta) => void read.push(delta.slice(delta.lastIndexOf('/') + 1));
  await reclaimed();
  expect(read).toEqual([]);
  mount.write(second.id, 'file', 'changed');
  await reclaimed();
  expect(read).toEqual([second.id]);
});

describe('the destroy of a fork', () => {
  it('asks other sandboxes for what they need only if no other fork is of the same layer', async () => {
    const parent = await create();
    mount.write(parent.id, 'file', 'parent');
    const forks = [await fork(parent), await fork(parent), await fork(parent)] as const;
    for (const { id } of forks) mount.write(id, 'own', 'fork');
    await reclaimed();
    const asked = vi.spyOn(fixture.context.layers, 'reclaim');
    const destroy = async ({ id }: Sandbox) => {
      await sandboxes.destroy(id);
      await fixture.context.layers.done;
      return asked.mock.calls.length;
    };
    expect(await destroy(forks[0])).toBe(0);
    expect(await destroy(parent)).toBe(1);
    expect(mount.read(forks[1].id, 'file')).toBe('parent');
    await Promise.all([destroy(forks[1]), destroy(forks[2])]);
    await fixture.context.layers.done;
    expect(layers()).toEqual([]);
  });

  it('removes the layer of its parent that is gone, also if it never changed anything', async () => {
    const parent = await create();
    mount.write(parent.id, 'file', 'parent');
    const { id } = await fork(parent);
    await sandboxes.destroy(parent.id);
    await sandboxes.destroy(id);
    await fixture.context.layers.done;
    expect(layers()).toEqual([]);
  });
});

describe('the destroy of a sandbox', () => {
  it('removes a layer that no record names and its journal, rewritten since, does not need', async () => {
    const { id } = await create();
    mount.write(id, 'file', 'frozen');
    const put = vi.spyOn(fixture.metadata.sandboxes, 'put').mockRejectedValueOnce(new Error('not stored'));
    await expect(sandboxes.createCheckpoint(id, 'lost')).rejects.toThrow('not stored');
    put.mockRestore();
    for (let n = 0; n < 1000; n++) mount.write(id, 'file', `change ${n}`);
    await sandboxes.close();
    await start();
    await (await sandboxes.recover())();
    await fixture.context.layers.done;
    // Its first use reads the journal, which has so many records that it is rewritten.
    expect(mount.read(id, 'file')).toBe('change 999');
    expect(layers()).toHaveLength(2);
    await sandboxes.destroy(id);
    await fixture.context.layers.done;
    expect(layers()).toEqual([]);
  });
});

it('a reclaim that failed is repeated by the next clean-up', async () => {
  const { id } = await create();
  mount.write(id, 'file', 'file');
  await sandboxes.createCheckpoint(id, 'c');
  fixture.removeTree = async (path) => {
    if (path.startsWith(join(fixture.layout.layers, '.removed-'))) throw new Error('not removed');
    return removeTree(path);
  };
  await sandboxes.destroy(id);
  await fixture.context.layers.done;
  expect(layers()).toHaveLength(1);
  fixture.removeTree = removeTree;
  await sandboxes.expire();
  await fixture.context.layers.done;
  expect(layers()).toEqual([]);
  const asked = vi.spyOn(fixture.context.layers, 'reclaim');
  await sandboxes.expire();
  expect(asked).not.toHaveBeenCalled();
});

it('a reclaim that is asked for while one ends is run', async () => {
  const asking = async (steps: number) => {
    for (let step = 0; step < steps; step++) await undefined;
    mkdirSync(join(fixture.layout.layers, 'sb_second.0'));
    fixture.context.reclaimLayers();
  };
  // The end of a run is some steps of promises: one of these is in the middle of it.
  for (let steps = 0; steps < 20; steps++) {
    vi.spyOn(mount, 'layersRemoved').mockImplementationOnce(async () => void asking(steps));
    mkdirSync(join(fixture.layout.layers, 'sb_first.0'));
    fixture.context.reclaimLayers();
    await vi.waitUntil(() => layers().length === 0, { timeout: 10_000 });
  }
});
