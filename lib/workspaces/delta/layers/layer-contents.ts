import { NO_SLOT } from '../contents/slabs.ts';
import type { Inode } from '../index/inode.ts';

/** Contents of files: their size together, and how many they are. */
export interface Sum {
  bytes: number;
  files: number;
}

/** The contents that a state of a delta has in each layer. */
export type LayerContents = Map<string, Sum>;

export function hasContents(inode: Inode): boolean {
  return inode.data !== undefined && (inode.hasFile || inode.data.slot !== NO_SLOT);
}

/** `layer`: only what lies in that one. */
export function contentsOf(inodes: Iterable<Inode>, layer?: string): LayerContents {
  const contents: LayerContents = new Map();
  for (const inode of inodes) {
    if (!hasContents(inode) || (layer !== undefined && inode.data!.layer !== layer)) continue;
    addContents(contents, inode.data!.layer, inode.size, 1);
  }
  return contents;
}

export function addContents(contents: LayerContents, layer: string, bytes: number, files: number): void {
  const sum = contents.get(layer);
  if (sum === undefined) contents.set(layer, { bytes, files });
  else {
    sum.bytes += bytes;
    sum.files += files;
  }
}

export function copyContents(contents: LayerContents): LayerContents {
  return new Map([...contents].map(([layer, sum]) => [layer, { ...sum }]));
}
