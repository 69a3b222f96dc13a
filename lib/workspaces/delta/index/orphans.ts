import { StepCounter, type Steps } from '../../../fuse/connection/steps.ts';
import type { Inode } from './inode.ts';
import { type InodeTable, ROOT_ID } from './inode-table.ts';

/** Inodes examined in one step. */
const ITEMS_PER_STEP = 64;

/**
 * Returns the unlinked inodes of a table, in steps: left by a crash between unlink and last close, or open when the
 * table was frozen. `below`: those of the parent.
 */
export function* findingOrphans(table: InodeTable, below: readonly number[] = []): Steps<Inode[]> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  // Only copied inodes can have become unlinked here.
  for (const id of below) table.get(id);
  const found: Inode[] = [];
  for (const inode of table.own()) {
    if (inode.id !== ROOT_ID && inode.names === 0) found.push(inode);
    yield* counter.count();
  }
  return found;
}

/** Removes the unlinked inodes of a table, in steps. */
export function* removingOrphans(table: InodeTable, below: readonly number[] = []): Steps<void> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  for (const inode of yield* findingOrphans(table, below)) {
    table.remove(inode);
    yield* counter.count();
  }
}
