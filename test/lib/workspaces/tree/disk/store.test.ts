import { beforeEach, describe, expect, it } from 'vitest';
import { AbsentObject } from '../../../../../lib/trees/directory/source.ts';
import { NO_KEY, placeOf } from '../../../../../lib/trees/format/keys.ts';
import type { Ending } from '../../../../../lib/workspaces/tree/disk/ending.ts';
import { createStore } from '../../../../../lib/workspaces/tree/disk/open-store.ts';
import { SLOT_BYTES } from '../../../../../lib/workspaces/tree/disk/root-slot.ts';
import { runSteps, type SyncStep } from '../../../../../lib/workspaces/tree/disk/sync-steps.ts';
import type { TreeStore } from '../../../../../lib/workspaces/tree/disk/tree-store.ts';
import { SimulatedDisk } from '../../../disk/simulated-disk.ts';
import { seeded } from '../../../trees/random.ts';
import { record, STORE, stateAfter } from './numbered.ts';
import { FOLDER, type History, opened, storeIn } from './opened.ts';
import { settled } from './stepped-sync.ts';

const random = seeded(3);
let disk: SimulatedDisk;
let store: TreeStore;
let history: number[];
/** Calls of the sync that fail. */
let failing: number;
/** The sync does not get to its last step. */
let held: boolean;

beforeEach(() => {
  disk = new SimulatedDisk();
  disk.mkdir('/deltas');
  disk.syncFolder('/');
  failing = 0;
  held = false;
  history = [];
  store = createStore(storeIn(disk, sync, random), STORE, stateAfter(0));
});

async function sync(steps: readonly SyncStep[]): Promise<void> {
  if (failing > 0) {
    failing--;
    disk.fault = { at: disk.calls, with: 'EIO' };
  }
  runSteps(disk, held ? steps.slice(0, -1) : steps);
  if (held) await new Promise(() => {});
}

function append(): void {
  history.push(0);
  store.append(record(history.length, 0), false);
}

function freeze(): Ending {
  return store.freeze((sink, begin) => begin(stateAfter(history.length, sink))).durable;
}

function reopened(): number {
  return opened(
    storeIn(disk, async () => {}, random),
    history as History,
  ).found;
}

/** The records that are there after a loss of power, at the least. */
function leastAfterCrash(): number {
  const rounds = Array.from({ length: 30 }, () => {
    return opened(
      storeIn(disk.crashed(random), async () => {}, random),
      history as History,
    ).found;
  });
  return Math.min(...rounds);
}

describe('a freeze', () => {
  it('leaves the root, the next journal and the objects alone', async () => {
    append();
    await freeze();
    expect(disk.readdir(FOLDER)).toEqual(['journal.2', 'root', 'trees']);
  });

  it('is durable with all before it, without a sync of journals', async () => {
    append();
    append();
    await freeze();
    expect(leastAfterCrash()).toBe(2);
  });

  it('is what records of exchanges wait for: until then, or if it fails, a crash brings back the tree of before', async () => {
    expect(store.isRooted).toBe(true);
    const first = freeze();
    expect(store.isRooted).toBe(false);
    await first;
    expect(store.isRooted).toBe(true);
    failing = 2;
    await freeze().catch(() => {});
    expect([store.isFreezing, store.isRooted]).toEqual([false, false]);
    await freeze();
    expect(store.isRooted).toBe(true);
  });

  it('of a server that was killed may not be durable before a sync', async () => {
    held = true;
    await Promise.race([freeze(), settled()]);
    held = false;
    disk = disk.killed();
    const again = opened(storeIn(disk, sync, random), history).store;
    expect(again.isRooted).toBe(false);
    await again.sync();
    expect(again.isRooted).toBe(true);
  });

  it('waits for the one before it', async () => {
    const first = freeze();
    expect(store.isFreezing).toBe(true);
    expect(() => freeze()).toThrow('a freeze waits for the one before it');
    await first;
    expect(store.isFreezing).toBe(false);
    await freeze();
  });

  it('is tried again after a failure of the disk, and durable then', async () => {
    append();
    failing = 1;
    await freeze();
    expect(leastAfterCrash()).toBe(1);
  });

  it('is UNAVAILABLE after the second failure, with the root of before; the next one has all', async () => {
    append();
    failing = 2;
    await expect(freeze()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(store.root.generation).toBe(1);
    append();
    await freeze();
    expect(store.root.generation).toBe(3);
    expect(leastAfterCrash()).toBe(2);
  });

  it('begins nothing if the directories cannot be encoded, and gives their space back', () => {
    append();
    const files = disk.readdir(FOLDER);
    const refused = () =>
      store.freeze((sink) => {
        sink.putBytes(Buffer.alloc(1000));
        throw new AbsentObject(NO_KEY, 'postponed');
      });
    expect(refused).toThrow(AbsentObject);
    expect([disk.readdir(FOLDER), disk.file(`${FOLDER}/trees/1`).size]).toEqual([[...files, 'trees'], 0]);
    expect(store.isFreezing).toBe(false);
  });

  it('refuses a root that is too large, with nothing begun', () => {
    const stores = Array.from({ length: 9000 }, (_, n) => BigInt(n));
    expect(() => store.freeze((_, begin) => begin({ ...stateAfter(0), stores }))).toThrow(
      expect.objectContaining({
        code: 'RESOURCE_EXHAUSTED',
        message: expect.stringMatching(
          /^the root of the sandbox names 9000 stores of other .* bytes; 65532 are allowed$/,
        ),
      }),
    );
    expect(store.isFreezing).toBe(false);
  });
});

describe('a sync', () => {
  it('makes all records before it durable', async () => {
    append();
    await store.sync();
    expect(leastAfterCrash()).toBe(1);
  });

  it('covers both journals while the root of a freeze is not durable', async () => {
    append();
    failing = 2;
    await freeze().catch(() => {});
    append();
    await store.sync();
    expect(leastAfterCrash()).toBe(2);
  });

  it('that failed is made up for by the next one', async () => {
    append();
    failing = 1;
    await expect(store.sync()).rejects.toThrow('EIO');
    await store.sync();
    expect(leastAfterCrash()).toBe(1);
  });

  it('begins with the contents of files', async () => {
    const steps: SyncStep[][] = [];
    const contents = { steps: () => [{ folder: '/contents' }], synced() {}, syncFailed() {} };
    const where = { ...storeIn(disk, async (each) => void steps.push([...each]), random), contents };
    const other = createStore(where, STORE, stateAfter(0));
    await other.sync();
    await other.freeze((_, begin) => begin(stateAfter(0))).durable;
    expect(steps.map(([first]) => first)).toEqual([{ folder: '/contents' }, { folder: '/contents' }]);
  });
});

describe('a record whose write failed', () => {
  it('is not there, also where the disk has taken it', () => {
    append();
    const write = disk.pwrite.bind(disk);
    let isFailing = true;
    disk.pwrite = (...call) => {
      write(...call);
      if (isFailing) {
        isFailing = false;
        throw Object.assign(new Error('EIO'), { code: 'EIO', errno: -5 });
      }
    };
    expect(() => store.append(record(2, 1), false)).toThrow(expect.objectContaining({ errno: 5 }));
    expect(reopened()).toBe(1);
    append();
    expect(reopened()).toBe(2);
  });
});

describe('the number of a segment that a sweep removed', () => {
  it('is not given again, also by the next server', async () => {
    await freeze();
    const swept = placeOf(store.root.slabMaps)!.segment;
    // This root names no object.
    await store.freeze((_, begin) => begin(stateAfter(0))).durable;
    store.close();
    disk.unlink(`${FOLDER}/trees/${swept}`);
    store = opened(storeIn(disk, sync, random), history).store;
    await freeze();
    expect(placeOf(store.root.slabMaps)!.segment).toBe(swept + 1);
  });
});

describe('a store that is closed', () => {
  it('keeps no empty journal', async () => {
    append();
    await freeze();
    store.close();
    expect(disk.readdir(FOLDER)).toEqual(['root', 'trees']);
    expect(disk.openFiles).toBe(0);
  });

  it('keeps what no root has', () => {
    append();
    store.close();
    expect(disk.readdir(FOLDER)).toEqual(['journal.1', 'root']);
  });
});

describe('opening', () => {
  it('finds none where nothing is', () => {
    disk.unlink(`${FOLDER}/root`);
    expect(reopened()).toBe(0);
  });

  it('tells that a journal is gone of which something was synced', async () => {
    append();
    await store.sync();
    disk.unlink(`${FOLDER}/journal.1`);
    expect(reopened).toThrow(/its changes end at byte 0 of journal 1, and were durable up to byte \d+ of journal 1/);
  });

  it('tells that the root is gone', async () => {
    append();
    await freeze();
    disk.file(`${FOLDER}/root`).contents.fill(1, 0, 2 * SLOT_BYTES);
    expect(reopened).toThrow('both copies of its root are damaged');
  });

  it('tells that the newest root is gone, and does not go on from the one before', async () => {
    append();
    await freeze();
    append();
    const { contents } = disk.file(`${FOLDER}/root`);
    const before = Buffer.from(contents);
    await freeze();
    before.copy(contents, 0, 0, SLOT_BYTES);
    contents.fill(1, SLOT_BYTES, 2 * SLOT_BYTES);
    expect(reopened).toThrow(/its changes end at byte 0 of journal 2/);
  });

  it('ignores journals of a store that was never durable', () => {
    append();
    disk.unlink(`${FOLDER}/root`);
    history = [];
    createStore(storeIn(disk, sync, random), STORE, stateAfter(0)).close();
    expect(reopened()).toBe(0);
  });
});
