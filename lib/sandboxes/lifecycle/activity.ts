/** The calls on a sandbox that are in progress, and the time since the last one. Costs a call no write and no timer. */
export class Activity {
  #calls = 0;
  /** Monotonic milliseconds; undefined: not observed since it was last busy. */
  #quietSince: number | undefined;

  begin(): void {
    this.#calls++;
  }

  /** `now`: monotonic milliseconds. */
  end(now: number): void {
    this.#calls--;
    this.#quietSince = now;
  }

  /** Counts the time anew from the next `idleFor` on. */
  restart(): void {
    this.#quietSince = undefined;
  }

  /** Milliseconds without a call; 0 during one, and when it is called for the first time. */
  idleFor(now: number): number {
    if (this.#calls > 0) return 0;
    this.#quietSince ??= now;
    return now - this.#quietSince;
  }
}
