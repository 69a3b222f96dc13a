import { StepCounter, type Steps } from '../../../fuse/connection/steps.ts';
import type { Inode } from '../index/inode.ts';
import type { InodeTable } from '../index/inode-table.ts';
import type { FrozenIndex } from './frozen-layers.ts';
import { addContents, copyContents, hasContents, type LayerContents } from './layer-contents.ts';

/** Inodes examined in one step. */
const ITEMS_PER_STEP = 16;

/** Counts, in steps, the contents of `table`, which extends `index`, in layers other than the writable one, `top`. */
export function* liveContents(table: InodeTable, index: FrozenIndex | undefined, top: string): Steps<LayerContents> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const live = copyContents(index?.contents ?? new Map());
  for (const before of table.replaced()) {
    if (hasContents(before)) addContents(live, before.requireData().layer, -before.stored, -1);
    if (counter.count()) yield;
  }
  for (const inode of table.own()) {
    const { layer } = inode;
    if (layer !== undefined && layer !== top && hasContents(inode)) addContents(live, layer, inode.stored, 1);
    if (counter.count()) yield;
  }
  for (const [layer, { files }] of live) if (files <= 0) live.delete(layer);
  return live;
}

/** Returns the contents of a file in a frozen layer, which stay there when the file gets other contents. */
export function sharedContents(inode: Inode, top: string): { layer: string; stored: number } | undefined {
  const { layer } = inode;
  return layer === undefined || layer === top || !hasContents(inode) ? undefined : { layer, stored: inode.stored };
}
