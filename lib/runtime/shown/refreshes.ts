/** Milliseconds of a turn, in which about ten sandboxes are refreshed, and from one to the next. */
const TURN_MS = 2;
const PERIOD_MS = 100;

/**
 * Refreshes of all sandboxes, in the order in which they were asked for: one that has had its own waits for the others that are due.
 * Their part of the thread's time is bounded, however many ask.
 */
export class Refreshes {
  readonly #now: () => number;
  readonly #due = new Set<() => void>();
  #lastTurn = Number.NEGATIVE_INFINITY;

  /** `now`: in milliseconds. */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Calls it once, not now. It must not throw. */
  ask(refresh: () => void): void {
    this.#due.add(refresh);
    if (this.#due.size === 1) this.#schedule();
  }

  #schedule(): void {
    const wait = this.#lastTurn + PERIOD_MS - this.#now();
    if (wait > 0) setTimeout(() => this.#turn(), wait).unref();
    else setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#lastTurn = this.#now();
    for (const refresh of this.#due) {
      refresh();
      // Not before: it is scheduled already.
      this.#due.delete(refresh);
      if (this.#now() - this.#lastTurn >= TURN_MS) break;
    }
    if (this.#due.size > 0) this.#schedule();
  }
}
