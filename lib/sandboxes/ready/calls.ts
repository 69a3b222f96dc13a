/** Milliseconds without a call after which nothing else runs. */
export const IDLE_MS = 10;

/** The calls that begin and end, and the creations in progress: a ready sandbox is made when there are none. */
export class Calls {
  readonly #now: () => number;
  #creating = 0;
  #last = 0;

  /** `now`: monotonic time in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A call begins or ends. */
  note(): void {
    this.#last = this.#now();
  }

  /** A creation begins. Returns a function to call at its end. */
  creation(): () => void {
    this.#creating++;
    return () => {
      this.#creating--;
      this.note();
    };
  }

  get areIdle(): boolean {
    return this.#creating === 0 && this.#now() - this.#last >= IDLE_MS;
  }
}
