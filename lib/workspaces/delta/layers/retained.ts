import type { Steps } from '../../../fuse/connection/steps.ts';
import { KnownLayers, type Summaries } from './known-layers.ts';
import { type LayerContents, type Sum, sumOf } from './layer-contents.ts';

/**
 * What a sandbox retains on disk for its checkpoints in addition to its present state: the contents in its own frozen
 * layers that checkpoints need and the present state does not use, the indexes of these layers, and the contents that a
 * checkpoint still uses in layers of other sandboxes. None of it is stored; it is computed from layers, checkpoints and
 * present state, so a killed server leaves nothing inconsistent.
 */
export class Retained {
  readonly #prefix: string;
  readonly #summaries: Summaries;
  readonly #changed: () => void;
  #checkpoints: readonly string[] = [];
  /** Contents of the present state in frozen layers, by layer. */
  #live: LayerContents = new Map();
  /** Contents of the present state in layers of other sandboxes. */
  #inherited: Sum = { bytes: 0, files: 0 };
  /** The largest such sum of one checkpoint; those of the others are counted as a part of it. */
  #inheritedByCheckpoint: Sum = { bytes: 0, files: 0 };
  /** Layers of its own that checkpoints need. */
  #needed = new Set<string>();
  readonly #layers: KnownLayers;
  /** Contents of these layers that the present state does not use. */
  readonly #own: Sum = { bytes: 0, files: 0 };

  /** `prefix`: prefix of the names of the sandbox's own layers. `changed`: called when `bytes` may have changed. */
  constructor(prefix: string, summaries: Summaries, changed = () => {}) {
    this.#prefix = prefix;
    this.#summaries = summaries;
    this.#changed = changed;
    this.#layers = new KnownLayers(summaries, prefix);
  }

  /** Retained bytes, indexes included. */
  get bytes(): number {
    return this.#own.bytes + Math.max(0, this.#inheritedByCheckpoint.bytes - this.#inherited.bytes);
  }

  /** Retained files with contents; other inodes count by the bytes of the index. */
  get files(): number {
    return this.#own.files + Math.max(0, this.#inheritedByCheckpoint.files - this.#inherited.files);
  }

  /** Contents of the present state in frozen layers. */
  get live(): LayerContents {
    return this.#live;
  }

  /** Sets the contents of a new present state in frozen layers. */
  reset(live: LayerContents): void {
    this.#live = live;
    this.#count();
  }

  /** Adds a layer that was frozen, with its contents. */
  frozen(layer: string, contents: Sum | undefined): void {
    if (contents !== undefined) this.#live.set(layer, contents);
  }

  /**
   * Sets the layers of the sandbox's checkpoints. Returns false if `makeSummaries` must run before everything is
   * counted.
   */
  setCheckpoints(layers: readonly string[]): boolean {
    this.#checkpoints = layers;
    return this.#count();
  }

  /** Computes missing summaries, which older servers did not write, one layer at a time. */
  *makeSummaries(): Steps<void> {
    const missing = new Set<string>();
    for (const layer of this.#checkpoints) missing.add(layer);
    for (const layer of missing) {
      if (this.#layers.get(layer) === undefined) yield* this.#summaries.making(layer);
      for (const below of this.#layers.get(layer)?.needed ?? []) missing.add(below);
      yield;
    }
    this.#count();
  }

  /** Counts contents in a frozen layer that the present state no longer uses. */
  superseded(layer: string, bytes: number): void {
    const live = this.#live.get(layer);
    if (live === undefined) return;
    live.bytes -= bytes;
    if (--live.files === 0) this.#live.delete(layer);
    if (!this.#isOwn(layer)) {
      this.#inherited.bytes -= bytes;
      this.#inherited.files--;
    } else if (this.#needed.has(layer)) {
      this.#own.bytes += bytes;
      this.#own.files++;
    }
    this.#changed();
  }

  /** Returns how many more bytes are retained when the present state no longer uses such contents. */
  cost(layer: string, bytes: number): number {
    if (this.#isOwn(layer)) return this.#needed.has(layer) ? bytes : 0;
    const over = this.#inheritedByCheckpoint.bytes - this.#inherited.bytes;
    return Math.max(0, over + bytes) - Math.max(0, over);
  }

  /** Whether checkpoints may need contents of the layer. */
  isNeeded(layer: string): boolean {
    return this.#isOwn(layer) ? this.#needed.has(layer) : this.#inheritedByCheckpoint.files > 0;
  }

  /**
   * Returns the garbage in frozen layers: contents that the present state (or that of a checkpoint; '': the present
   * one) does not use. Layers that count as retained are excluded.
   */
  garbage(checkpoint: string): { bytes: number; layers: readonly string[]; live: Sum } {
    const contents = checkpoint === '' ? this.#live : (this.#summaries.read(checkpoint)?.contents ?? new Map());
    const live: Sum = { bytes: 0, files: 0 };
    const layers: string[] = [];
    let bytes = 0;
    for (const [layer, sum] of contents) {
      if (this.#needed.has(layer)) continue;
      layers.push(layer);
      live.bytes += sum.bytes;
      live.files += sum.files;
      bytes += Math.max(0, this.#sizeOf(layer) - sum.bytes);
    }
    return { bytes, layers, live };
  }

  /** Size of a layer with its index in bytes; 0 if it has no summary. */
  #sizeOf(layer: string): number {
    const known = this.#layers.get(layer);
    return known === undefined ? 0 : known.index + known.own.bytes;
  }

  /** Recomputes all sums. Returns false if the summary of a layer is missing; that layer is not counted. */
  #count(): boolean {
    let complete = true;
    this.#needed = new Set();
    this.#inherited = this.#sumOfOthers(this.#live);
    this.#inheritedByCheckpoint = { bytes: 0, files: 0 };
    for (const layer of this.#checkpoints) {
      const known = this.#layers.get(layer);
      if (known === undefined) {
        complete = false;
        continue;
      }
      for (const each of known.needed) this.#needed.add(each);
      const { bytes, files } = known.others;
      this.#inheritedByCheckpoint.bytes = Math.max(this.#inheritedByCheckpoint.bytes, bytes);
      this.#inheritedByCheckpoint.files = Math.max(this.#inheritedByCheckpoint.files, files);
    }
    this.#own.bytes = this.#own.files = 0;
    for (const layer of this.#needed) {
      const known = this.#layers.get(layer);
      if (known === undefined) {
        complete = false;
        continue;
      }
      const live = this.#live.get(layer);
      this.#own.bytes += known.index + Math.max(0, known.own.bytes - (live?.bytes ?? 0));
      this.#own.files += Math.max(0, known.own.files - (live?.files ?? 0));
    }
    this.#layers.keepOnly([...this.#checkpoints, ...this.#needed, ...this.#live.keys()]);
    this.#changed();
    return complete;
  }

  #sumOfOthers(contents: LayerContents): Sum {
    return sumOf(contents, (layer) => !this.#isOwn(layer));
  }

  #isOwn(layer: string): boolean {
    return layer.startsWith(this.#prefix);
  }
}
