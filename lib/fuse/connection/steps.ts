/**
 * Long work in steps of a fraction of a millisecond; other requests are served between them. A yielded value other than
 * undefined is a partial result that can be delivered before the rest.
 */
export type Steps<T, Part = unknown> = Generator<Part | undefined, T, void>;

/**
 * Yielded by steps that wait for an event outside this thread. `begin` starts the wait and returns its cause; the steps
 * are to be continued after the release of that cause. Steps that are continued without a call of `begin` block this
 * thread until the event.
 */
export class Waiting {
  readonly begin: () => number;

  constructor(begin: () => number) {
    this.begin = begin;
  }
}

/** Continues steps of which `value` was the last yielded value and is still to be handled. */
export function* resumed<T>(value: unknown, steps: Steps<T>): Steps<T> {
  yield value;
  return yield* steps;
}

/**
 * Counts the items of a loop, which ends a step after every `itemsPerStep` of them: `if (counter.count()) yield;`. A
 * generator for each item would be most of the garbage of an operation on a million of them.
 */
export class StepCounter {
  readonly #itemsPerStep: number;
  #items = 0;

  constructor(itemsPerStep: number) {
    this.#itemsPerStep = itemsPerStep;
  }

  /** Counts one item. Returns whether the step is over. */
  count(): boolean {
    if (++this.#items < this.#itemsPerStep) return false;
    this.#items = 0;
    return true;
  }
}

/** Runs all steps at once and returns the result; partial results are dropped. */
export function complete<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
