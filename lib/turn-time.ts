import { Turns } from './turns.ts';

/**
 * Bounds the time that short steps of all callers take in one turn of the event loop. The threat: a client lets hundreds
 * of commands end at the same time, each with a step of a millisecond or two.
 */
export class TurnTime {
  readonly #ms: number;
  readonly #turns: Pick<Turns, 'next'>;
  readonly #now: () => number;
  #used = 0;
  #waiting = 0;

  constructor(ms: number, turns: Pick<Turns, 'next'> = new Turns(), now: () => number = () => performance.now()) {
    this.#ms = ms;
    this.#turns = turns;
    this.#now = now;
  }

  /**
   * Runs the step: at once, before it returns, if time is left in this turn and no earlier step waits; otherwise in a
   * later turn, in order, one per turn.
   */
  run<T>(step: () => T): T | Promise<T> {
    return this.#used < this.#ms && this.#waiting === 0 ? this.#measure(step) : this.#later(step);
  }

  async #later<T>(step: () => T): Promise<T> {
    this.#waiting++;
    await this.#turns.next();
    this.#waiting--;
    return this.#measure(step);
  }

  #measure<T>(step: () => T): T {
    if (this.#used === 0) void this.#renew();
    const began = this.#now();
    try {
      return step();
    } finally {
      // At least 1 ns, so that the turn is known to be in use.
      this.#used += Math.max(this.#now() - began, 1e-6);
    }
  }

  async #renew(): Promise<void> {
    await this.#turns.next();
    this.#used = 0;
  }
}
