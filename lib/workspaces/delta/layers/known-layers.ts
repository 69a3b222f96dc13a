import type { Steps } from '../../../fuse/connection/steps.ts';
import { type Sum, sumOf } from './layer-contents.ts';
import type { LayerSummary } from './layer-summary.ts';

/** Access to the summaries of frozen layers. */
export interface Summaries {
  /** Returns undefined if there is no summary. */
  read(layer: string): LayerSummary | undefined;
  /** Computes a summary from the index, in steps, if the index can be read. */
  making(layer: string): Steps<void>;
}

/** Totals of a frozen layer. Immutable. */
interface KnownLayer {
  /** Size of the index in bytes. */
  index: number;
  /** The sandbox's own layers that it needs, itself included. */
  needed: readonly string[];
  /** Contents in this layer. */
  own: Sum;
  /** Contents of its state in layers of other sandboxes. */
  others: Sum;
}

/** Totals of the frozen layers of one sandbox; the summary of each layer is read once. */
export class KnownLayers {
  readonly #summaries: Summaries;
  readonly #prefix: string;
  #known = new Map<string, KnownLayer>();

  /** `prefix`: prefix of the names of the sandbox's own layers. */
  constructor(summaries: Summaries, prefix: string) {
    this.#summaries = summaries;
    this.#prefix = prefix;
  }

  /** Returns the totals of a layer; undefined if it has no summary. */
  get(layer: string): KnownLayer | undefined {
    const known = this.#known.get(layer);
    if (known !== undefined) return known;
    const summary = this.#summaries.read(layer);
    if (summary === undefined) return undefined;
    const isOwn = (each: string) => each.startsWith(this.#prefix);
    const made = {
      index: summary.index,
      needed: summary.layers.filter(isOwn),
      own: summary.contents.get(layer) ?? { bytes: 0, files: 0 },
      others: sumOf(summary.contents, (each) => !isOwn(each)),
    };
    this.#known.set(layer, made);
    return made;
  }

  /** Forgets all layers except these. */
  keepOnly(layers: Iterable<string>): void {
    const before = this.#known;
    this.#known = new Map();
    for (const layer of layers) {
      const known = before.get(layer);
      if (known !== undefined) this.#known.set(layer, known);
    }
  }
}
