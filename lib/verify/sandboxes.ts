import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { complete } from '../fuse/connection/steps.ts';
import type { SandboxRecord } from '../metadata/metadata.ts';
import { homeDeltaOf } from '../sandboxes/host/layout.ts';
import { asDamage } from '../workspaces/delta/damage.ts';
import { VERSION } from '../workspaces/delta/index/header.ts';
import { markPath } from '../workspaces/delta/index/journal-mark.ts';
import { type ReadDelta, readDelta } from '../workspaces/delta/index/read-delta.ts';
import { CollectedLines } from '../workspaces/delta/index/read-journal.ts';
import { type FrozenLayers, readIndex } from '../workspaces/delta/layers/frozen-layers.ts';
import { indexPath } from '../workspaces/delta/layers/layer-path.ts';
import { requireDelta } from '../workspaces/delta/layers/layers-on-disk.ts';
import { Contents } from './contents.ts';
import { verifyHome } from './homes.ts';
import { verifyMark } from './marks.ts';
import type { Report } from './report.ts';

/** Verifies the data of sandboxes: deltas, required layers, checkpoints, contents and HOME. */
export class Sandboxes {
  /** Layers that some sandbox or checkpoint needs. */
  readonly needed = new Set<string>();
  /** Whether the needs of some sandbox could not be read. */
  needsUnknown = false;
  readonly #folders: { deltas: string; layers: string };
  readonly #frozen: FrozenLayers;
  readonly #report: Report;
  readonly #contents: Contents;
  /** Layers with an undamaged index. */
  readonly #whole = new Set<string>();

  constructor(folders: { deltas: string; layers: string }, frozen: FrozenLayers, report: Report) {
    this.#folders = folders;
    this.#frozen = frozen;
    this.#report = report;
    this.#contents = new Contents(folders.layers, frozen, report);
  }

  async verify(record: SandboxRecord): Promise<void> {
    const { id, checkpoints = [], origin } = record;
    this.#report.counts.sandboxes++;
    const owner = `sandbox ${id}`;
    const path = join(this.#folders.deltas, id, 'journal');
    for (const { name, layer } of checkpoints) {
      await this.#frozenLayer(layer, `checkpoint ${JSON.stringify(name)} of ${owner}`);
    }
    await this.#report.attempt(markPath(path), owner, () => verifyMark(path, owner, this.#report));
    const delta = await this.#report.attempt(path, owner, () => this.#read(record));
    if (delta === undefined) this.needsUnknown = true;
    else if (delta !== 'none') await this.#delta(delta, path, owner);
    if (origin !== undefined && (delta === undefined || delta === 'none')) await this.#frozenLayer(origin, owner);
    await verifyHome(homeDeltaOf(id, this.#folders), owner, this.#frozen, this.#report);
  }

  async #read({ id, changed = false, origin }: SandboxRecord): Promise<ReadDelta | 'none'> {
    const { deltas, layers } = this.#folders;
    const delta = join(deltas, id);
    const read = readDelta(delta, layers, this.#frozen);
    if (read !== undefined) return read;
    await requireDelta({ id, delta, layers, ...(origin !== undefined && { origin }) }, changed);
    return 'none';
  }

  async #delta({ table, top, below, index, version }: ReadDelta, path: string, owner: string): Promise<void> {
    for (const layer of below) await this.#layer(layer, owner);
    this.#need(top);
    if (version === VERSION && !existsSync(markPath(path))) {
      this.#report.note(`${markPath(path)} is missing: whether the journal of ${owner} was cut cannot be told`);
    }
    this.#contents.verify(table, owner, { top });
    if (index !== undefined) this.#frozen.release(index);
  }

  /** A layer used as an origin or a checkpoint, which can be restored. */
  async #frozenLayer(layer: string, owner: string): Promise<void> {
    this.#need(layer);
    const index = await this.#report.attempt(indexPath(this.#folders.layers, layer), owner, () => {
      try {
        return this.#frozen.acquire(this.#folders.layers, layer);
      } catch (error) {
        throw asDamage(error);
      }
    });
    if (index === undefined) {
      this.needsUnknown = true;
      return;
    }
    for (const each of index.layers) await this.#layer(each, owner);
    this.#contents.verify(index.table, owner, { left: index.orphans });
    this.#frozen.release(index);
  }

  /** A sandbox does not start without the index of each layer in its journal. */
  async #layer(layer: string, owner: string): Promise<void> {
    this.#need(layer);
    const { layers } = this.#folders;
    if (this.#whole.has(layer)) return;
    await this.#report.attempt(indexPath(layers, layer), owner, () => {
      complete(readIndex(layers, layer, new CollectedLines()));
      this.#whole.add(layer);
    });
  }

  #need(layer: string): void {
    this.needed.add(layer);
    this.#report.counts.layers = this.needed.size;
  }
}
