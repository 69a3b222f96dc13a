import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { Counted, type Steps } from '../../../fuse/connection/steps.ts';
import type { FrozenIndex, FrozenLayers } from './frozen-layers.ts';
import { addContents, hasContents, type LayerContents } from './layer-contents.ts';
import { indexPath, layerPath } from './layer-path.ts';

/** Inodes looked at in one step. */
const AT_ONCE = 16;

/** What the index of a frozen layer has, without its names. Never changes. */
export interface LayerSummary {
  /** Bytes of the index. */
  index: number;
  /** Every layer that it needs, its own among them. */
  layers: readonly string[];
  contents: LayerContents;
}

/**
 * Beside the index, so that quotas are counted without reading it. Nothing but quotas depends on it: one that is missing
 * or cut is made anew from the index.
 */
export function writeSummary(root: string, layer: string, { index, layers, contents }: LayerSummary): void {
  const sums = [...contents].map(([name, { bytes, files }]) => [name, bytes, files]);
  try {
    writeFileSync(summaryPath(root, layer), `${JSON.stringify({ index, layers, contents: sums })}\n`, { mode: 0o600 });
  } catch {
    // Read from the index when it is needed.
  }
}

/** undefined: there is none, as in layers of older servers. */
export function readSummary(root: string, layer: string): LayerSummary | undefined {
  try {
    const { index, layers, contents } = JSON.parse(readFileSync(summaryPath(root, layer), 'utf8')) as {
      index: number;
      layers: string[];
      contents: [layer: string, bytes: number, files: number][];
    };
    return { index, layers, contents: new Map(contents.map(([name, bytes, files]) => [name, { bytes, files }])) };
  } catch {
    return undefined;
  }
}

/** From the whole index. Where that cannot be read now, there stays none. */
export function* makingSummary(root: string, layer: string, frozen: FrozenLayers): Steps<void> {
  const counted = new Counted(AT_ONCE);
  let taken: FrozenIndex | undefined;
  try {
    taken = yield* frozen.acquiring(root, layer);
    // Of those without a name the index does not tell which were open, and are there.
    const unnamed = new Set(taken.orphans);
    const contents: LayerContents = new Map();
    for (const inode of taken.table.found()) {
      if (hasContents(inode) && !unnamed.has(inode.id)) addContents(contents, inode.data!.layer, inode.size, 1);
      yield* counted.one();
    }
    writeSummary(root, layer, { index: statSync(indexPath(root, layer)).size, layers: taken.layers, contents });
  } catch {
    // Damaged or gone: whoever needs it is told so when it is used.
  } finally {
    if (taken !== undefined) frozen.release(taken);
  }
}

function summaryPath(root: string, layer: string): string {
  return `${layerPath(root, layer)}/summary`;
}
