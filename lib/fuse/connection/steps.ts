/**
 * Long work in steps of a fraction of a millisecond; other requests are served between them. A yielded value other than
 * undefined is a partial result that can be delivered before the rest.
 */
export type Steps<T, Part = unknown> = Generator<Part | undefined, T, void>;

/** Ends a step after every `of` items of a loop. */
export class Counted {
  readonly #of: number;
  #count = 0;

  constructor(of: number) {
    this.#of = of;
  }

  /** Counts one item. */
  *one(): Steps<void, undefined> {
    if (++this.#count % this.#of === 0) yield;
  }
}

/** Runs all steps at once and returns the result; partial results are dropped. */
export function complete<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
