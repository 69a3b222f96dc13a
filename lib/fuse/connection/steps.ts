/**
 * Long work, done a step at a time: between two of them others may be served. A step takes a fraction of a millisecond.
 * What is yielded, besides undefined, is a part of the result that need not wait for the rest.
 */
export type Steps<T, Part = unknown> = Generator<Part | undefined, T, void>;

/** After every so many of what is counted, a step is done. */
export class Counted {
  readonly #of: number;
  #count = 0;

  constructor(of: number) {
    this.#of = of;
  }

  *one(): Steps<void, undefined> {
    if (++this.#count % this.#of === 0) yield;
  }
}

/** Does all of it at once. */
export function complete<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
