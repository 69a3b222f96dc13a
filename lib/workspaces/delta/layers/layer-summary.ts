import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { StepCounter, type Steps } from '../../../fuse/connection/steps.ts';
import { IdSet } from '../index/id-set.ts';
import type { FrozenIndex, FrozenLayers } from './frozen-layers.ts';
import { addContents, hasContents, type LayerContents } from './layer-contents.ts';
import { indexPath, layerPath } from './layer-path.ts';

/** Inodes examined in one step. */
const ITEMS_PER_STEP = 16;

/** Totals of the index of a frozen layer. Immutable. */
export interface LayerSummary {
  /** Size of the index in bytes. */
  index: number;
  /** All layers that the index refers to, including its own. */
  layers: readonly string[];
  contents: LayerContents;
}

/**
 * Writes the summary beside the index, so that quotas are computed without reading the index. Only quotas depend on it:
 * a missing or torn one is computed from the index. Never throws.
 */
export function writeSummary(root: string, layer: string, { index, layers, contents }: LayerSummary): void {
  const sums = [...contents].map(([name, { bytes, files }]) => [name, bytes, files]);
  try {
    writeFileSync(summaryPath(root, layer), `${JSON.stringify({ index, layers, contents: sums })}\n`, { mode: 0o600 });
  } catch {
    // Computed from the index when it is needed.
  }
}

/** Reads a summary. Returns undefined if there is none, as for layers of older servers. */
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

/** Computes and writes the summary of a layer from its index, in steps. Writes none if the index cannot be read. */
export function* makingSummary(root: string, layer: string, frozen: FrozenLayers): Steps<void> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  let taken: FrozenIndex | undefined;
  try {
    taken = yield* frozen.acquiring(root, layer);
    // The index does not record which unlinked inodes were open and have contents.
    const unnamed = new IdSet();
    for (const id of taken.orphans) {
      unnamed.add(id);
      if (counter.count()) yield;
    }
    const contents: LayerContents = new Map();
    for (const inode of taken.table.found()) {
      if (hasContents(inode) && !unnamed.has(inode.id)) {
        addContents(contents, inode.requireData().layer, inode.stored, 1);
      }
      if (counter.count()) yield;
    }
    writeSummary(root, layer, { index: statSync(indexPath(root, layer)).size, layers: taken.layers, contents });
  } catch {
    // Damaged or missing: reported when the layer is used.
  } finally {
    if (taken !== undefined) frozen.release(taken);
  }
}

function summaryPath(root: string, layer: string): string {
  return `${layerPath(root, layer)}/summary`;
}
