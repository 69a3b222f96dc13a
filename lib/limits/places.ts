/**
 * Places for calls that are carried out at the same time. Others wait for one, each holder in turn: a key that asks for many
 * delays another one of its owner by one call.
 */
export class Places {
  #free: number;
  /** Those that wait, of the holder whose turn it is first. */
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(places: number) {
    this.#free = places;
  }

  /** Resolves when the holder has a place, which it must give back. Rejects with the reason of the signal, without one. */
  async take(holder: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const queue = this.#waiting.get(holder) ?? new Set();
      this.#waiting.set(holder, queue);
      const leave = () => {
        queue.delete(begin);
        if (queue.size === 0) this.#waiting.delete(holder);
        reject(signal.reason);
      };
      const begin = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      queue.add(begin);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Passes the place on, or leaves it free. */
  give(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#free++;
      return;
    }
    const [holder, queue] = first;
    const [begin] = queue;
    queue.delete(begin!);
    this.#waiting.delete(holder);
    if (queue.size > 0) this.#waiting.set(holder, queue);
    begin!();
  }
}
