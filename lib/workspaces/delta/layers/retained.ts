import type { Steps } from '../../../fuse/connection/steps.ts';
import { KnownLayers, type Summaries } from './known-layers.ts';
import { type LayerContents, type Sum, sumOf } from './layer-contents.ts';

/**
 * What a sandbox keeps on the disk besides its present state, for its checkpoints. That is all that lies in the frozen
 * layers of its own that they need and that the present state does not have, the indexes of these layers, and what a
 * checkpoint still has of layers of other sandboxes. Nothing of it is stored: it follows from the layers, the checkpoints
 * and the present state, so a killed server leaves nothing to mend.
 */
export class Retained {
  readonly #prefix: string;
  readonly #summaries: Summaries;
  #checkpoints: readonly string[] = [];
  /** Of layers with contents of the present state: what it has in them. */
  #live: LayerContents = new Map();
  /** What the present state has in layers of other sandboxes. */
  #inherited: Sum = { bytes: 0, files: 0 };
  /** The most that one checkpoint has in these: the others have a part of the same. */
  #inheritedByCheckpoint: Sum = { bytes: 0, files: 0 };
  /** Layers of its own that checkpoints need. */
  #needed = new Set<string>();
  readonly #layers: KnownLayers;
  /** In these, and not in the present state. */
  readonly #own: Sum = { bytes: 0, files: 0 };

  /** `prefix`: of the names of the layers that the sandbox made. */
  constructor(prefix: string, summaries: Summaries) {
    this.#prefix = prefix;
    this.#summaries = summaries;
    this.#layers = new KnownLayers(summaries, prefix);
  }

  get bytes(): number {
    return this.#own.bytes + Math.max(0, this.#inheritedByCheckpoint.bytes - this.#inherited.bytes);
  }

  /** Contents of files: what else is in an index counts by its bytes. */
  get files(): number {
    return this.#own.files + Math.max(0, this.#inheritedByCheckpoint.files - this.#inherited.files);
  }

  /** What the present state has in frozen layers. */
  get live(): LayerContents {
    return this.#live;
  }

  /** The present state is another one, which has this in frozen layers. */
  reset(live: LayerContents): void {
    this.#live = live;
    this.#count();
  }

  /** A layer was frozen, with these contents in it. */
  frozen(layer: string, contents: Sum | undefined): void {
    if (contents !== undefined) this.#live.set(layer, contents);
  }

  /** `layers`: those that the sandbox's checkpoints are. False: `makeSummaries` must be done before all is counted. */
  setCheckpoints(layers: readonly string[]): boolean {
    this.#checkpoints = layers;
    return this.#count();
  }

  /** What older servers froze is read whole, one layer at a time. */
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

  /** The present state lost contents that it had in a frozen layer. */
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
  }

  /** How many bytes more are retained when the present state loses such contents. */
  cost(layer: string, bytes: number): number {
    if (this.#isOwn(layer)) return this.#needed.has(layer) ? bytes : 0;
    const over = this.#inheritedByCheckpoint.bytes - this.#inherited.bytes;
    return Math.max(0, over + bytes) - Math.max(0, over);
  }

  /** Whether checkpoints may still have what lies in the layer. */
  isNeeded(layer: string): boolean {
    return this.#isOwn(layer) ? this.#needed.has(layer) : this.#inheritedByCheckpoint.files > 0;
  }

  /**
   * What frozen layers hold besides the contents that the present state, or that of a checkpoint ('': the present one), has
   * in them. Not of layers that count as retained.
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

  /** With its index; of a layer without a summary nothing is known. */
  #sizeOf(layer: string): number {
    const known = this.#layers.get(layer);
    return known === undefined ? 0 : known.index + known.own.bytes;
  }

  /** False: the summary of a layer is missing, and nothing of it is counted. */
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
    return complete;
  }

  #sumOfOthers(contents: LayerContents): Sum {
    return sumOf(contents, (layer) => !this.#isOwn(layer));
  }

  #isOwn(layer: string): boolean {
    return layer.startsWith(this.#prefix);
  }
}
