/** Events that are held, above which their source is to pause. */
const FULL = 256;

/** Events that wait for their reader. */
export class Queue<T> {
  readonly #onFull: (full: boolean) => void;
  readonly #waiting: T[] = [];
  #full = false;
  #ended = false;
  #error: unknown;
  #wake: () => void = () => undefined;

  /** `onFull`: called with true when many events wait, and with false when they are read. */
  constructor(onFull: (full: boolean) => void = () => undefined) {
    this.#onFull = onFull;
  }

  push(event: T): void {
    this.#waiting.push(event);
    if (!this.#full && this.#waiting.length >= FULL) this.#turn(true);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  fail(error: unknown): void {
    if (!this.#ended) this.#error = error;
    this.end();
  }

  /** `close` is called when the reader leaves. */
  async *read(close: () => void): AsyncGenerator<T, void, void> {
    try {
      for (;;) {
        while (this.#waiting.length > 0) yield this.#waiting.shift()!;
        if (this.#full) this.#turn(false);
        if (this.#error !== undefined) throw this.#error;
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      close();
    }
  }

  #turn(full: boolean): void {
    this.#full = full;
    this.#onFull(full);
  }
}
