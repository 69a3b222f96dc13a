/**
 * Elements that one side adds and the other takes. Each has a weight; the side that adds must wait for `room` while the
 * elements that are held weigh `most` or more, so that the memory is bounded.
 */
export class Inlet<T> implements AsyncIterable<T> {
  readonly #most: number;
  readonly #held: { element: T; weight: number }[] = [];
  #weight = 0;
  #ended = false;
  #wake: () => void = () => {};
  #room: { promise: Promise<void>; resolve: () => void } | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  /** Elements that are added after the end are dropped. */
  add(element: T, weight: number): void {
    if (this.#ended) return;
    this.#held.push({ element, weight });
    this.#weight += weight;
    this.#wake();
  }

  get isFull(): boolean {
    return this.#weight >= this.#most && !this.#ended;
  }

  /** Resolves when there is room for an element, or at the end. */
  room(): Promise<void> {
    if (!this.isFull) return Promise.resolve();
    if (this.#room === undefined) {
      let resolve = () => {};
      const promise = new Promise<void>((resolved) => {
        resolve = resolved;
      });
      this.#room = { promise, resolve };
    }
    return this.#room.promise;
  }

  /** No more elements are added; those that are held can still be taken. Idempotent. */
  end(): void {
    this.#ended = true;
    this.#wake();
    this.#notify();
  }

  /** Like `end`, and those that are held are dropped. Idempotent. */
  drop(): void {
    this.#held.length = 0;
    this.#weight = 0;
    this.end();
  }

  /** For one consumer. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for (;;) {
      const first = this.#held.shift();
      if (first !== undefined) {
        this.#weight -= first.weight;
        this.#notify();
        yield first.element;
      } else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #notify(): void {
    if (this.isFull) return;
    this.#room?.resolve();
    this.#room = undefined;
  }
}
