/** Wakes all readers that wait for a change of a log. */
export class Waiters {
  readonly #waiting = new Set<() => void>();

  /** Resolves at the next `wake`, when the signal aborts, or after so many milliseconds. Never rejects. */
  wait(signal: AbortSignal, milliseconds: number): Promise<void> {
    if (signal.aborted || milliseconds <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = Number.isFinite(milliseconds) ? setTimeout(done, milliseconds) : undefined;
      this.#waiting.add(done);
      signal.addEventListener('abort', done);
    });
  }

  wake(): void {
    if (this.#waiting.size === 0) return;
    for (const done of [...this.#waiting]) done();
  }
}

export function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
