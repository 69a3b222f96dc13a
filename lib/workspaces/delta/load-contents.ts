import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { sameTime } from '../clock.ts';
import type { ContentStore } from './contents/content-store.ts';
import { findFrozen, markLost } from './contents/find-files.ts';
import { NO_SLOT } from './contents/stored-file.ts';
import type { Inode } from './index/inode.ts';
import type { InodeTable } from './index/inode-table.ts';

/** Inodes examined in one step. */
const ITEMS_PER_STEP = 16;

/**
 * Completes the inodes of a table that was read from their data files, in steps. `written` receives those that were
 * written to since their record.
 */
export function* loadContents(
  root: string,
  table: InodeTable,
  contents: ContentStore,
  written: (inode: Inode) => void,
): Steps<void> {
  yield* findFrozen(root, table.own(), true, (inode) => contents.isFrozen(inode));
  yield* contents.load(table.own(), (inode, { size, holes, mtime }) => {
    inode.size = size;
    inode.holes = holes;
    // The next record has the new size.
    if (inode.expected !== size) written(inode);
    if (inode.hostMtime === undefined || !sameTime(inode.hostMtime, mtime)) inode.mtime = inode.ctime = mtime;
  });
  const counter = new StepCounter(ITEMS_PER_STEP);
  for (const inode of table.own()) {
    if (counter.count()) yield;
    if (inode.data?.slot !== NO_SLOT || inode.hasFile) continue;
    // Of a file that was never synced, a power failure may leave nothing.
    if (inode.expected === undefined || inode.expected === 0) inode.size = inode.holes = 0;
    else markLost(inode);
  }
}
