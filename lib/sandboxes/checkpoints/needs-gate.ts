/**
 * Shared and exclusive work on what layers are needed. Freezing, and storing a checkpoint or a fork of what was frozen,
 * is shared: any number at a time. Deciding which layers nobody needs, and taking them away, is exclusive: it starts when
 * the shared work under way has ended, and keeps new work waiting until it has ended itself, so neither starves.
 */
export class NeedsGate {
  #shared = 0;
  #lastLeft: (() => void) | undefined;
  #exclusive: Promise<void> | undefined;

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
