import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRequest, forkOf, NO_LIMITS } from './fixture.ts';
import { bytes } from './model/bytes.ts';
import { Server } from './model/server.ts';
import { snapshots } from './snapshots.ts';

vi.mock('node:fs', async (original) => {
  const { snapshots } = await import('./snapshots.ts');
  return snapshots.wrap(await original());
});
vi.mock('node:fs/promises', async (original) => {
  const { snapshots } = await import('./snapshots.ts');
  return snapshots.wrapPromises(await original());
});
vi.mock('node:child_process', async (original) => {
  const { withoutSync } = await import('./model/disk.ts');
  return withoutSync(await original());
});

const LARGE = 'large '.repeat(20_000);
const FILES = ['small', 'd/new', 'large', 'kept'] as const;
const OLD = { small: 'old', 'd/new': undefined, large: `${LARGE}old`, kept: 'base' };
const NEW = { small: 'new', 'd/new': 'new', large: 'new', kept: 'new' };
type Files = Record<(typeof FILES)[number], string | undefined>;

let directory: string;
let home: string;
let server: Server;
let codebase: string;
let id: string;

const call = <T>(at: Server, task: () => Promise<T>) => at.call(task);
const write = (path: string, content: string) =>
  call(server, () => server.sandboxes.writeFile({ sandbox_id: id, as: 'owner', path, mode: 0 }, bytes(content)));

async function writeAll(files: Files): Promise<void> {
  for (const path of FILES) if (files[path] !== undefined) await write(path, files[path]);
}

beforeEach(async () => {
  directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'paddock-killed-'));
  home = join(directory, 'home');
  mkdirSync(home);
  server = await Server.start(home, () => undefined);
  await call(server, async () => {
    codebase = (await server.codebases.create({ name: 'killed', owner_id: 'ann' })).id;
    await server.codebases.upload(codebase, 'kept', bytes('base'));
    const everything = [{ pattern: '**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 }] as const;
    const request = createRequest({ codebase_id: codebase, permissions: [...everything], resources: NO_LIMITS });
    id = (await server.sandboxes.create(request)).id;
  });
  await writeAll(OLD);
});
afterEach(async () => {
  await server?.kill();
  rmSync(directory, { recursive: true });
});

function filesOf(at: Server, sandbox_id: string): Promise<Files> {
  return call(at, async () => {
    const files: Partial<Files> = {};
    for (const path of FILES) {
      const file = await at.sandboxes.readFile({ sandbox_id, as: 'owner', path }).catch((error) => {
        if (error.code !== 'NOT_FOUND') throw error;
        return undefined;
      });
      files[path] = file && (await text(file.read()));
      await file?.close();
    }
    return files as Files;
  });
}

interface Found {
  at: Server;
  ids: string[];
}

/** Starts a server on each copy; it is given to `check`, and its sandboxes must leave nothing. */
async function afterEachCall(act: () => Promise<unknown>, check: (found: Found) => Promise<void>): Promise<void> {
  const copies = await snapshots.during(home, () => call(server, act));
  expect(copies.length).toBeGreaterThan(3);
  for (const [nth, copy] of copies.entries()) {
    const at = await Server.start(copy, () => undefined);
    try {
      const { sandboxes } = at.sandboxes.list({ codebase_id: codebase, page_size: 100, page_token: '' });
      for (const { status, status_reason } of sandboxes)
        expect([status, status_reason]).toEqual(['SANDBOX_RUNNING', '']);
      await check({ at, ids: sandboxes.map((each) => each.id) });
      await removeAll(at);
    } catch (error) {
      throw new Error(`killed after call ${nth + 1} of ${copies.length}`, { cause: error });
    } finally {
      await at.kill();
    }
    rmSync(copy, { recursive: true });
  }
}

/** The first sandbox goes first: what its forks need stays. */
async function removeAll(at: Server): Promise<void> {
  await call(at, async () => {
    const all = at.sandboxes.list({ codebase_id: codebase, page_size: 100, page_token: '' }).sandboxes;
    for (const { id } of all) await at.sandboxes.destroy(id, true);
    await at.sandboxes.expire();
  });
  at.context.reclaimLayers();
  await at.settle();
  const { layout } = at.context.platform;
  expect([layout.deltas, layout.layers, layout.run].flatMap((path) => readdirSync(path))).toEqual([]);
}

const rollback = (at: Server, name: string) => call(at, () => at.sandboxes.rollback(id, name));
const names = (at: Server) => at.sandboxes.listCheckpoints(id).map((each) => each.name);

describe('a server that is killed after any of its host calls', () => {
  it('during a checkpoint has it or not, and the sandbox as it was', async () => {
    await writeAll(NEW);
    await afterEachCall(
      () => server.sandboxes.createCheckpoint(id, 'one'),
      async ({ at, ids }) => {
        expect(ids).toEqual([id]);
        expect(await filesOf(at, id)).toEqual(NEW);
        if (names(at).length > 0) await rollback(at, 'one');
        expect(await filesOf(at, id)).toEqual(NEW);
      },
    );
  });

  it('during a rollback has the state before or after it, and the checkpoint', async () => {
    await call(server, () => server.sandboxes.createCheckpoint(id, 'one'));
    await writeAll(NEW);
    await afterEachCall(
      async () => {
        await server.sandboxes.rollback(id, 'one');
        await server.settle();
      },
      async ({ at }) => {
        expect([OLD, NEW]).toContainEqual(await filesOf(at, id));
        expect(names(at)).toEqual(['one']);
        await rollback(at, 'one');
        expect(await filesOf(at, id)).toEqual(OLD);
      },
    );
  });

  it('during a fork has the whole fork or none, which needs its parent no more', async () => {
    await afterEachCall(
      async () => {
        const [made] = await server.sandboxes.fork(forkOf(id));
        expect(made?.error).toBeUndefined();
      },
      async ({ at, ids }) => {
        expect(ids).toContain(id);
        for (const each of ids) expect(await filesOf(at, each)).toEqual(OLD);
        await call(at, () => at.sandboxes.destroy(id, true));
        for (const each of ids) if (each !== id) expect(await filesOf(at, each)).toEqual(OLD);
      },
    );
  });

  it('during the end of a sandbox has it or not, and its fork as it was', async () => {
    await call(server, () => server.sandboxes.createCheckpoint(id, 'one'));
    await call(server, () => server.sandboxes.fork(forkOf(id)));
    await writeAll(NEW);
    await call(server, () => server.sandboxes.createCheckpoint(id, 'two'));
    await afterEachCall(
      async () => {
        await server.sandboxes.destroy(id, true);
        await server.settle();
      },
      async ({ at, ids }) => {
        expect(ids.length).toBeGreaterThan(ids.includes(id) ? 1 : 0);
        for (const each of ids) expect(await filesOf(at, each)).toEqual(each === id ? NEW : OLD);
      },
    );
  });
});
