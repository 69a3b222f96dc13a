import { complete } from '../../../fuse/connection/steps.ts';
import { DataFiles } from '../contents/data-files.ts';
import { findFrozen, markLost } from '../contents/find-files.ts';
import { LargeCopies } from '../contents/large-copies.ts';
import { asDamage } from '../damage.ts';
import type { FrozenIndex, FrozenLayers } from '../layers/frozen-layers.ts';
import { apply } from './apply.ts';
import { InodeTable } from './inode-table.ts';
import { resolvingMerges } from './older-merges.ts';
import { removingOrphans } from './orphans.ts';
import { readRecords } from './read-journal.ts';

/** The present state of a delta, as `Delta` would load it. */
export interface ReadDelta {
  /** Without unlinked inodes. `hasFile`, `size`, `holes` and `lost` are taken from the data files. */
  table: InodeTable;
  /** The writable layer. */
  top: string;
  /** The frozen layers that it needs. */
  below: readonly string[];
  version: number;
  /** The index that `table` extends; the caller releases it with `frozen.release`. */
  index: FrozenIndex | undefined;
}

/**
 * Reads the delta in `dir` without changing anything on disk. Returns undefined if there is no delta. Throws Damage if
 * its journal, or an index that it extends, is damaged or lost. No server may run.
 */
export function readDelta(dir: string, root: string, frozen: FrozenLayers): ReadDelta | undefined {
  const journal = readRecords(`${dir}/journal`);
  if (journal === undefined) return undefined;
  const { version, top, below, parentLayer } = journal.header;
  const index = parentLayer === '' ? undefined : frozen.acquire(root, parentLayer);
  try {
    const table = new InodeTable(index?.table);
    for (const line of journal.lines) for (const op of line) apply(table, op);
    complete(resolvingMerges(table));
    complete(removingOrphans(table, index?.orphans));
    findFiles(root, top, table);
    return { table, top, below, version, index };
  } catch (error) {
    if (index !== undefined) frozen.release(index);
    throw asDamage(error);
  }
}

/**
 * Takes sizes from the data files: in the writable layer a file may have been written to since its size was recorded.
 */
function findFiles(root: string, top: string, table: InodeTable): void {
  const own = [...table.own()];
  const files = new DataFiles(root, new LargeCopies());
  complete(
    findFrozen(
      root,
      own.filter(({ data }) => data !== undefined && data.layer !== top),
    ),
  );
  for (const inode of own) {
    const { data } = inode;
    if (data === undefined || data.layer !== top || data.slot >= 0) continue;
    const stat = files.stat(data);
    inode.hasFile = stat !== undefined;
    inode.holes = stat?.holes ?? 0;
    if (stat !== undefined) inode.size = stat.size;
    else if (inode.expected === undefined || inode.expected === 0) inode.size = 0;
    else markLost(inode);
  }
}
