import { beforeEach, describe, expect, it } from 'vitest';
import { ENOSPC } from '../../../../../lib/linux/errno.ts';
import { createStore } from '../../../../../lib/workspaces/tree/disk/open-store.ts';
import { runSteps } from '../../../../../lib/workspaces/tree/disk/sync-steps.ts';
import type { TreeStore } from '../../../../../lib/workspaces/tree/disk/tree-store.ts';
import { SimulatedDisk } from '../../../disk/simulated-disk.ts';
import { seeded } from '../../../trees/random.ts';
import { record, STORE, stateAfter } from './numbered.ts';
import { FOLDER, opened, storeIn } from './opened.ts';

const RESERVE = 32 * 1024;
const random = seeded(3);
let disk: SimulatedDisk;
let store: TreeStore;
let history: number[];

beforeEach(() => {
  disk = new SimulatedDisk();
  disk.mkdir('/deltas');
  history = [];
  store = createStore(
    storeIn(disk, async (steps) => runSteps(disk, steps), random),
    STORE,
    stateAfter(0),
  );
});

function append(makesRoom = false): void {
  store.append(record(history.length + 1, 0), makesRoom);
  history.push(0);
}

/** Appends until the disk refuses it. Returns the bytes of the records. */
function fill(makesRoom: boolean): number {
  const before = store.bytes;
  for (;;) {
    try {
      append(makesRoom);
    } catch (error) {
      expect(error).toBe(ENOSPC);
      return store.bytes - before;
    }
  }
}

function found(): number {
  return opened(
    storeIn(disk, async () => {}, random),
    history,
  ).found;
}

describe('on a full disk', () => {
  beforeEach(() => {
    append();
    disk.room = 0;
  });

  it('records that free space have 32 KiB after all others are refused, and none is lost', () => {
    fill(false);
    const left = fill(true);
    expect(left).toBeGreaterThan(RESERVE - 100);
    expect(left).toBeLessThanOrEqual(RESERVE + 100);
    expect(found()).toBe(history.length);
  });

  it('all records are taken again when there is room', () => {
    fill(false);
    fill(true);
    disk.room = 1e6;
    for (let n = 0; n < 2000; n++) append();
    expect(found()).toBe(history.length);
  });

  it('a server that starts keeps what is left for them', () => {
    fill(false);
    store.close();
    store = opened(
      storeIn(disk, async () => {}, random),
      history,
    ).store;
    expect(() => append()).toThrow(expect.objectContaining({ errno: ENOSPC.errno }));
    expect(fill(true)).toBeGreaterThan(RESERVE - 200);
    expect(found()).toBe(history.length);
  });

  it('a freeze has begun nothing, takes no space, and can be made later', async () => {
    disk.room = 50;
    const files = disk.readdir(FOLDER);
    const freeze = () => store.freeze((sink, begin) => begin(stateAfter(history.length, sink)));
    expect(freeze).toThrow('ENOSPC');
    disk.room = 1000;
    expect(freeze).toThrow('ENOSPC');
    expect(disk.room).toBe(1000);
    expect(disk.readdir(FOLDER)).toEqual([...files, 'trees']);
    append(true);
    disk.room = 1e6;
    await freeze().durable;
    expect(found()).toBe(history.length);
  });

  it('the root needs no space', async () => {
    disk.room = 1e6;
    const freezing = store.freeze((_, begin) => begin(stateAfter(history.length)));
    disk.room = 0;
    await freezing.durable;
    expect(found()).toBe(history.length);
  });
});
