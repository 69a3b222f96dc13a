import { StepCounter, type Steps } from '../../../fuse/connection/steps.ts';
import { NO_SLOT } from '../contents/stored-file.ts';
import type { Inode } from '../index/inode.ts';

/** Inodes examined in one step. */
const ITEMS_PER_STEP = 64;

/** Stored bytes and number of files with contents. */
export interface Sum {
  bytes: number;
  files: number;
}

/** The contents that a state of a delta has in each layer. */
export type LayerContents = Map<string, Sum>;

/** Whether an inode has contents on disk. */
export function hasContents(inode: Inode): boolean {
  return inode.data !== undefined && (inode.hasFile || inode.data.slot !== NO_SLOT);
}

/** Counts the contents of inodes by layer, in steps. */
export function* countingContents(inodes: Iterable<Inode>): Steps<LayerContents> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const contents: LayerContents = new Map();
  for (const inode of inodes) {
    if (counter.count()) yield;
    if (hasContents(inode)) addContents(contents, inode.requireData().layer, inode.stored, 1);
  }
  return contents;
}

/** Adds to the sum of a layer; negative values subtract. */
export function addContents(contents: LayerContents, layer: string, bytes: number, files: number): void {
  const sum = contents.get(layer);
  if (sum === undefined) contents.set(layer, { bytes, files });
  else {
    sum.bytes += bytes;
    sum.files += files;
  }
}

/** Returns a deep copy. */
export function copyContents(contents: LayerContents): LayerContents {
  return new Map([...contents].map(([layer, sum]) => [layer, { ...sum }]));
}

/** Returns the sum of the layers for which `counts` returns true. */
export function sumOf(contents: LayerContents, counts: (layer: string) => boolean): Sum {
  const sum = { bytes: 0, files: 0 };
  for (const [layer, { bytes, files }] of contents) {
    if (!counts(layer)) continue;
    sum.bytes += bytes;
    sum.files += files;
  }
  return sum;
}
