/**
 * The turns of sandboxes that are brought up again after a start: some at a time, in order of arrival, but those that a call waits
 * for come before all others.
 */
export class BringUpOrder {
  readonly #atOnce: number;
  #running = 0;
  /** In order of arrival. */
  readonly #waiting = new Map<string, () => void>();
  /** Taken out of the others, in the order of their calls. */
  readonly #awaited = new Map<string, () => void>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Runs the task at the turn of the sandbox. An id waits once at a time. */
  async run(id: string, task: () => Promise<void>): Promise<void> {
    if (this.#running >= this.#atOnce) await new Promise<void>((resolve) => this.#waiting.set(id, resolve));
    else this.#running++;
    try {
      await task();
    } finally {
      // The turn is passed on directly, so that nothing that arrives can take it.
      if (!this.#passOn(this.#awaited) && !this.#passOn(this.#waiting)) this.#running--;
    }
  }

  /** Reports that a call waits for the sandbox. Nothing if that has no turn to wait for. */
  hurry(id: string): void {
    const begin = this.#waiting.get(id);
    if (begin === undefined) return;
    this.#waiting.delete(id);
    this.#awaited.set(id, begin);
  }

  #passOn(turns: Map<string, () => void>): boolean {
    for (const [id, begin] of turns) {
      turns.delete(id);
      begin();
      return true;
    }
    return false;
  }
}
