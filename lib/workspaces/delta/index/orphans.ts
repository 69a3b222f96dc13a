import { StepCounter, type Steps } from '../../../fuse/connection/steps.ts';
import { DividedList, type Listed } from '../../divided-list.ts';
import type { Inode } from './inode.ts';
import { type InodeTable, ROOT_ID } from './inode-table.ts';

/** Inodes examined in one step. */
const ITEMS_PER_STEP = 64;

/**
 * Returns the ids of the unlinked inodes of a table, in steps: left by a crash between unlink and last close, or open when
 * the table was frozen. `below`: those of the parent.
 */
export function* findingOrphans(table: InodeTable, below?: Iterable<number>): Steps<Listed<number>> {
  const found = new DividedList<number>();
  yield* eachOrphan(table, below, ({ id }) => found.push(id));
  return found;
}

/** Removes the unlinked inodes of a table, in steps. */
export function* removingOrphans(table: InodeTable, below?: Iterable<number>): Steps<void> {
  yield* eachOrphan(table, below, (inode) => table.remove(inode));
}

/** There may be a million: the journal of a removed directory has them until it is rewritten. */
function* eachOrphan(table: InodeTable, below: Iterable<number> = [], act: (inode: Inode) => void): Steps<void> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  // Only copied inodes can have become unlinked here.
  for (const id of below) {
    table.get(id);
    if (counter.count()) yield;
  }
  for (const inode of table.own()) {
    if (inode.id !== ROOT_ID && inode.names === 0) act(inode);
    if (counter.count()) yield;
  }
}
