import type { Disk } from '../../../../../lib/disk/disk.ts';
import { OpenFiles } from '../../../../../lib/store/open-files.ts';
import { ObjectCache } from '../../../../../lib/workspaces/tree/disk/object-cache.ts';
import { createStore, openStore, type StoreIn } from '../../../../../lib/workspaces/tree/disk/open-store.ts';
import { PlacedObjects } from '../../../../../lib/workspaces/tree/disk/placed-objects.ts';
import { SegmentReader } from '../../../../../lib/workspaces/tree/disk/segment-reader.ts';
import type { Sync } from '../../../../../lib/workspaces/tree/disk/sync-steps.ts';
import type { TreeRoot } from '../../../../../lib/workspaces/tree/disk/tree-root.ts';
import type { TreeStore } from '../../../../../lib/workspaces/tree/disk/tree-store.ts';
import { GivenNumbers } from '../../../../../lib/workspaces/tree/given-numbers.ts';
import { InodeNumbers } from '../../../../../lib/workspaces/tree/inode-numbers.ts';
import { SEED } from '../../../trees/memory.ts';
import type { Random } from '../../../trees/random.ts';
import { numberOf, partsOf, STORE, stateAfter } from './numbered.ts';

export const FOLDER = '/deltas/s';

/** The kinds of the records that were answered, in order. */
export type History = readonly number[];

/** `folder` is in one that is there. */
export function storeIn(disk: Disk, sync: Sync, random: Random, folder = FOLDER): StoreIn {
  const contents = { steps: () => [], synced() {}, syncFailed() {} };
  return { disk, folder, cache: new ObjectCache(0), seed: SEED, sync, contents, random: () => random(2 ** 32) };
}

/** For who needs none of them. */
export function numbersAfter(root: Pick<TreeRoot, 'store' | 'nextSequence' | 'nextNumber' | 'numbers'>): GivenNumbers {
  const lease = (): never => {
    throw new Error('nothing is leased');
  };
  return new GivenNumbers(root, new InodeNumbers(lease, root.numbers));
}

/** The store, and how many of the records of a history it has. Throws if it has anything else. */
export function opened(where: StoreIn, history: History): { store: TreeStore; found: number } {
  const opening = openStore(where);
  if (opening === undefined) return { store: createStore(where, STORE, stateAfter(0)), found: 0 };
  try {
    const reader = new SegmentReader(where.disk, new OpenFiles(where.disk), where.folder);
    let found = numberOf(opening.root, new PlacedObjects(where.cache, () => reader));
    reader.close();
    for (const journal of opening.journals()) {
      for (const each of journal) {
        const [n, kind] = partsOf(each);
        if (n !== ++found || kind !== history[n - 1]) throw new Error(`record ${n} of kind ${kind} as number ${found}`);
      }
    }
    return { store: opening.finish(), found };
  } catch (error) {
    opening.close();
    throw error;
  }
}
