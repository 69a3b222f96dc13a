import { beforeAll, describe, expect, it } from 'vitest';
import { OpenFiles } from '../../../../../lib/store/open-files.ts';
import { AbsentObject } from '../../../../../lib/trees/directory/source.ts';
import { Damage } from '../../../../../lib/workspaces/delta/damage.ts';
import { ObjectCache } from '../../../../../lib/workspaces/tree/disk/object-cache.ts';
import { PlacedObjects } from '../../../../../lib/workspaces/tree/disk/placed-objects.ts';
import { RootFile } from '../../../../../lib/workspaces/tree/disk/root-file.ts';
import { encodeSlot, SLOT_BYTES } from '../../../../../lib/workspaces/tree/disk/root-slot.ts';
import { SegmentReader } from '../../../../../lib/workspaces/tree/disk/segment-reader.ts';
import type { TreeRoot } from '../../../../../lib/workspaces/tree/disk/tree-root.ts';
import { SimulatedDisk } from '../../../disk/simulated-disk.ts';
import { seeded } from '../../../trees/random.ts';
import { Life } from './life.ts';
import { FOLDER, type History, opened, storeIn } from './opened.ts';

const disk = new SimulatedDisk();
let history: History;
let root: TreeRoot;
/** Where the journal that goes on from the root ended at the last sync. */
let synced: number;

/** A frozen state of 3 records, a durable record after it, and two that are not. */
beforeAll(async () => {
  disk.mkdir('/deltas');
  const life = new Life(disk, seeded(1));
  for (let n = 0; n < 3; n++) life.append(0);
  life.freeze();
  await life.finish();
  life.append(0);
  life.sync();
  await life.finish();
  synced = life.store.at.end;
  life.append(0);
  life.append(0);
  ({ history } = life);
  ({ root } = life.store);
});

/** Calls `check` with one bit wrong of each of some bytes of a file, one after the other. */
function flip(file: string, from: number, to: number, check: (byte: number) => void): void {
  const { contents } = disk.file(`${FOLDER}/${file}`);
  for (let byte = from; byte < to; byte++) {
    const bit = 1 << (byte % 8);
    contents[byte]! ^= bit;
    check(byte);
    contents[byte]! ^= bit;
  }
}

/** The records that are there, or 'damage'. */
function found(): number | 'damage' {
  try {
    return opened(
      storeIn(disk, async () => {}, seeded(1)),
      history,
    ).found;
  } catch (error) {
    if (error instanceof Damage) return 'damage';
    throw error;
  }
}

describe('a wrong bit', () => {
  it('in a slot of the root or in the mark changes nothing', () => {
    const check = () => {
      const file = RootFile.open(disk, `${FOLDER}/root`);
      expect(file?.root).toEqual(root);
      file?.close();
    };
    const { size } = disk.file(`${FOLDER}/root`);
    const page = encodeSlot(root, false).length;
    // Between them is nothing.
    for (const start of [0, SLOT_BYTES]) flip('root', start, start + page, check);
    flip('root', 2 * SLOT_BYTES, size, check);
  });

  it('in what was synced of a journal is told', () => {
    flip('journal.2', 0, synced, () => expect(found()).toBe('damage'));
  });

  it('in later records of a journal cuts them off', () => {
    // All records have the length of the first, which is behind a header of 36 bytes.
    const fifth = synced + (synced - 36);
    const end = fifth + (synced - 36);
    flip('journal.2', synced, end, (byte) => expect(found()).toBe(byte < fifth ? 4 : 5));
    flip('journal.2', end, end + 100, () => expect(found()).toBe(6));
  });

  it('in a segment concerns one object alone', () => {
    const { size } = disk.file(`${FOLDER}/trees/1`);
    const reader = new SegmentReader(disk, new OpenFiles(disk), FOLDER);
    flip('trees/1', 0, size, () => {
      const objects = new PlacedObjects(new ObjectCache(0), () => reader);
      const reads = [() => objects.load(root.mine.key), () => objects.bytes(root.slabMaps)];
      expect(reads.filter((read) => isMissing(read))).toHaveLength(1);
    });
  });
});

function isMissing(read: () => unknown): boolean {
  try {
    read();
    return false;
  } catch (error) {
    if (error instanceof AbsentObject) return error.reason === 'missing';
    throw error;
  }
}
