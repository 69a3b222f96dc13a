import type { Steps } from '../../../fuse/connection/steps.ts';
import { type Sum, sumOf } from './layer-contents.ts';
import type { LayerSummary } from './layer-summary.ts';

/** Where the summaries of frozen layers come from. */
export interface Summaries {
  /** undefined: there is none. */
  read(layer: string): LayerSummary | undefined;
  /** Has one made from the whole index, where that is there and can be read. */
  making(layer: string): Steps<void>;
}

/** What is counted of a frozen layer. Never changes. */
interface KnownLayer {
  /** Bytes of the index. */
  index: number;
  /** The layers of the sandbox's own that it needs, itself among them. */
  needed: readonly string[];
  /** Contents that lie in it. */
  own: Sum;
  /** Contents that its state has in layers of other sandboxes. */
  others: Sum;
}

/** Of the frozen layers of one sandbox, each read from the disk once. */
export class KnownLayers {
  readonly #summaries: Summaries;
  readonly #prefix: string;
  #known = new Map<string, KnownLayer>();

  /** `prefix`: of the names of the layers that the sandbox made. */
  constructor(summaries: Summaries, prefix: string) {
    this.#summaries = summaries;
    this.#prefix = prefix;
  }

  /** undefined: it has no summary. */
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

  /** Forgets all others. */
  keepOnly(layers: Iterable<string>): void {
    const before = this.#known;
    this.#known = new Map();
    for (const layer of layers) {
      const known = before.get(layer);
      if (known !== undefined) this.#known.set(layer, known);
    }
  }
}
