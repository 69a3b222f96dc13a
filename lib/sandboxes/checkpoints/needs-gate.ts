/**
 * A read-write lock on the set of needed layers. Freezing, and storing a checkpoint or fork, is shared work: any number
 * at a time. Finding and removing unneeded layers is exclusive: it starts when all shared work has ended, and delays
 * new shared work until its own end, so that neither starves.
 */
export class NeedsGate {
  #shared = 0;
  #lastLeft: (() => void) | undefined;
  #exclusive: Promise<void> | undefined;

  /** Runs the task together with other shared work, after exclusive work in progress. */
  async shared<T>(task: () => Promise<T>): Promise<T> {
    while (this.#exclusive !== undefined) await this.#exclusive;
    this.#shared++;
    try {
      return await task();
    } finally {
      if (--this.#shared === 0) this.#lastLeft?.();
    }
  }

  /** One at a time. */
  async exclusive<T>(task: () => Promise<T>): Promise<T> {
    let open = () => {};
    this.#exclusive = new Promise((resolve) => {
      open = resolve;
    });
    try {
      if (this.#shared > 0) {
        await new Promise<void>((resolve) => {
          this.#lastLeft = resolve;
        });
      }
      return await task();
    } finally {
      this.#exclusive = this.#lastLeft = undefined;
      open();
    }
  }
}
