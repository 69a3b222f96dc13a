/** Milliseconds of creations that the number of ready sandboxes follows. */
const WINDOW_MS = 10_000;
/** Milliseconds after the last creation until none are kept. */
const KEEP_MS = 600_000;
/** Kept after any creation. */
const LEAST = 2;

/** How many sandboxes to keep ready: as many as were created lately, within bounds. None before the first creation. */
export class Keep {
  readonly #most: number;
  #recent: number[] = [];
  #last = Number.NEGATIVE_INFINITY;

  constructor(most: number) {
    this.#most = most;
  }

  /** Notes a creation. */
  created(now: number): void {
    this.#last = now;
    this.#recent.push(now);
    if (this.#recent.length > this.#most) this.#recent.shift();
  }

  number(now: number): number {
    if (now - this.#last > KEEP_MS) return 0;
    this.#recent = this.#recent.filter((at) => now - at <= WINDOW_MS);
    return Math.min(this.#most, Math.max(LEAST, this.#recent.length));
  }
}
