/**
 * Schedules short steps of all callers, one per turn of the event loop, so that other events are handled in between.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves when the caller may run one step. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(() => this.#run());
    });
  }

  #run(): void {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(() => this.#run());
  }
}
