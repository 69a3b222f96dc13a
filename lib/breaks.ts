import { setImmediate } from 'node:timers/promises';

/** Milliseconds of a loop between two breaks. */
const WORK_MS = 4;

/**
 * Lets other events be handled within a loop. The threat: a stream whose next piece is always ready and always accepted
 * (thousands of small files in an archive) never returns to the event loop.
 */
export class Breaks {
  readonly #now: () => number;
  #since: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = now();
  }

  /** Call after each step. Returns a promise to wait for if the loop has run for WORK_MS since the last break. */
  due(): Promise<void> | undefined {
    return this.#now() - this.#since < WORK_MS ? undefined : this.#take();
  }

  async #take(): Promise<void> {
    await setImmediate();
    this.#since = this.#now();
  }
}

/** Runs all steps, with breaks between them, and returns the result. */
export async function withBreaks<T>(steps: Iterator<unknown, T, void>): Promise<T> {
  const first = steps.next();
  if (first.done) return first.value;
  const breaks = new Breaks();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    const due = breaks.due();
    if (due !== undefined) await due;
  }
}
