import { setTimeout as delay } from 'node:timers/promises';
import type { Disk } from '../../../disk/disk.ts';
import { atShare } from '../../../store/check/at-share.ts';
import { Collection } from '../../../store/garbage/collection.ts';
import type { Root, Roots } from '../../../store/garbage/roots.ts';
import type { ObjectStore } from '../../../store/object-store.ts';
import { AbsentObject } from '../../../trees/directory/source.ts';
import type { Head } from '../head.ts';
import type { TreeRead } from './open-codebase.ts';

/** Of a core, while a collection goes on. */
const SHARE = 0.1;
/** Packs with indexes of their own, each of which is searched. */
const MOST_INDEXES = 8;

interface Collected {
  readonly store: ObjectStore;
  readonly disk: Disk;
  /** The present one. */
  head(): Head;
  readonly reads: Iterable<TreeRead>;
}

/**
 * Removes what neither the head of a codebase nor its readers name; versions before the head are kept by nobody. It takes a share
 * of the thread, and ends early, with nothing removed, when `isOver` says so.
 */
export async function collectGarbage(collected: Collected, isOver: () => boolean): Promise<void> {
  const steps = stepsOf(collected);
  const turn = atShare(steps, SHARE, () => undefined);
  for (let wait = turn(); wait !== undefined; wait = turn()) {
    await delay(wait, undefined, { ref: false });
    if (!isOver()) continue;
    steps.return();
    return;
  }
}

function* stepsOf(collected: Collected): Generator<void, void, void> {
  const { store, disk } = collected;
  const collection = new Collection(store, disk, () => rootsOf(collected));
  collection.remove(yield* collection.steps());
  if (store.indexes > MOST_INDEXES) yield* store.mergeIndexes();
}

function rootsOf({ head, reads }: Collected): Roots {
  const { version, number } = head();
  const directories = Array.from(reads, ({ root }): Root => ({ key: root, name: 'an export' }));
  return { versions: [{ key: version, name: `version ${number}` }], directories, contents: [], places: nowhere };
}

/** No sandbox names anything yet. */
const nowhere: Roots['places'] = {
  load(key) {
    throw new AbsentObject(key, 'missing');
  },
};
