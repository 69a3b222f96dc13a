/** Items that wait for a cause to be released, in order of arrival. */
export class WaitQueue<T> {
  readonly #byCause = new Map<number, T[]>();
  readonly #ready: T[] = [];

  /** Appends an item that waits for `cause`. */
  add(cause: number, item: T): void {
    const items = this.#byCause.get(cause);
    if (items === undefined) this.#byCause.set(cause, [item]);
    else items.push(item);
  }

  /** Makes all items that wait for `cause` ready. */
  release(cause: number): void {
    this.#ready.push(...(this.#byCause.get(cause) ?? []));
    this.#byCause.delete(cause);
  }

  /** Removes and returns the oldest ready item, if any. */
  next(): T | undefined {
    return this.#ready.shift();
  }
}
