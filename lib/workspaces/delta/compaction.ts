import { complete, type Steps } from '../../fuse/connection/steps.ts';
import type { DeltaIndex } from './delta-index.ts';
import type { LayersOf } from './layers/layers-of.ts';

/** A journal is rewritten when it has grown by this many bytes, and by this factor, since the last rewrite. */
const GROWTH_BYTES = 4 << 20;
const GROWTH = 2;

/** Rewrites the journal of one delta when it has become long. */
export class Compaction {
  readonly #index: DeltaIndex;
  readonly #layers: LayersOf;
  readonly #prepare: () => Steps<void>;

  /** `prepare`: steps to run before each rewrite. */
  constructor(index: DeltaIndex, layers: LayersOf, prepare: () => Steps<void>) {
    this.#index = index;
    this.#layers = layers;
    this.#prepare = prepare;
  }

  /** Starts a rewrite of a long journal. If that is not possible now, a later change tries again. */
  startWhenDue(): void {
    const { journal, rewrittenSize } = this.#index;
    if (journal.size <= GROWTH_BYTES + rewrittenSize * GROWTH) return;
    const { startSteps } = this.#layers;
    if (startSteps === undefined) complete(this.trying());
    else startSteps(this.trying());
  }

  /** Rewrites the journal. A failure (a full disk) is ignored, since it is not one of the current change. */
  *trying(): Steps<void> {
    try {
      yield* this.rewriting();
    } catch {
      this.#index.postponeRewrite();
    }
  }

  /** Rewrites the journal, in steps. Throws host errors with nothing changed. */
  *rewriting(): Steps<void> {
    yield* this.#prepare();
    yield* this.#index.rewriting();
  }
}
