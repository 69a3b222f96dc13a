/** Wakes all readers that wait for a change of a log. */
export class Waiters {
  readonly #waiting = new Set<() => void>();

  /** Resolves at the next `wake`, or when the signal aborts. Never rejects. */
  wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done);
    });
  }

  wake(): void {
    if (this.#waiting.size === 0) return;
    for (const done of [...this.#waiting]) done();
  }
}
