import { StepCounter, type Steps } from '../../../fuse/connection/steps.ts';
import { DataFiles } from './data-files.ts';
import { LargeCopies } from './large-copies.ts';
import { NO_SLOT, type StoredFile } from './stored-file.ts';

/** Inodes examined in one step. */
const ITEMS_PER_STEP = 16;

/** Marks an inode as lost: its data file is known to have existed. */
export function markLost(inode: StoredFile): void {
  inode.hasFile = inode.lost = true;
  inode.holes = 0;
  inode.size = Math.max(inode.expected ?? 0, 1);
}

/**
 * Completes inodes of frozen layers from their data files, in steps. `sizes`: whether recorded sizes are final;
 * `isFrozen`: leaves out the other inodes.
 */
export function* findFrozen(
  root: string,
  inodes: Iterable<StoredFile>,
  sizes = true,
  isFrozen: (inode: StoredFile) => boolean = () => true,
): Steps<void> {
  const files = new DataFiles(root, new LargeCopies());
  const counter = new StepCounter(ITEMS_PER_STEP);
  for (const inode of inodes) {
    if (counter.count()) yield;
    if (inode.data === undefined || inode.data.slot !== NO_SLOT || !isFrozen(inode)) continue;
    const stat = files.stat(inode.data);
    if (!sizes && (inode.expected ?? 0) > 0) inode.expected = -1;
    const { expected } = inode;
    inode.hasFile = stat !== undefined;
    inode.size = stat?.size ?? 0;
    inode.holes = stat?.holes ?? 0;
    // The size was recorded at the freeze and cannot have changed since.
    const other = expected !== undefined && expected !== inode.size && !(expected === -1 && inode.hasFile);
    if (other) markLost(inode);
  }
}
