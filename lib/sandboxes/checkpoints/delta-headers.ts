import { readdir } from 'node:fs/promises';
import { type DeltaLayers, journalState, layersOfDelta } from '../../workspaces/delta/layers/layers-on-disk.ts';
import type { Layout } from '../host/layout.ts';
import { deltaOf } from '../lifecycle/bring-up.ts';

/**
 * The layers of deltas, as their journals have them. A journal is read again only if it has changed since, which its
 * inode, size and time show: a new list of layers is a new journal.
 */
export class DeltaHeaders {
  readonly #layout: Layout;
  readonly #known = new Map<string, { state: string; layers: DeltaLayers }>();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** Call before each round. Returns whether the sandbox had a delta then. */
  async look(): Promise<(sandbox: string) => boolean> {
    const present = new Set(await readdir(this.#layout.deltas));
    for (const id of this.#known.keys()) if (!present.has(id)) this.#known.delete(id);
    return (sandbox) => present.has(sandbox);
  }

  /** undefined: the delta has no journal. Throws Damage for a damaged or lost one. */
  async layersOf(sandbox: string): Promise<DeltaLayers | undefined> {
    const delta = deltaOf(sandbox, this.#layout);
    // Before the journal is read: one that is replaced meanwhile is read again the next time.
    const state = await journalState(delta);
    const known = this.#known.get(sandbox);
    if (state !== undefined && known?.state === state) return known.layers;
    const layers = await layersOfDelta(delta);
    if (state !== undefined && layers !== undefined) this.#known.set(sandbox, { state, layers });
    else this.#known.delete(sandbox);
    return layers;
  }
}
