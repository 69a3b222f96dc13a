/** What is put off, by what it waits for; in the order in which it came. */
export class Waiting<T> {
  readonly #byCause = new Map<number, T[]>();
  readonly #ready: T[] = [];

  add(cause: number, item: T): void {
    const items = this.#byCause.get(cause);
    if (items === undefined) this.#byCause.set(cause, [item]);
    else items.push(item);
  }

  /** The cause is over. */
  release(cause: number): void {
    this.#ready.push(...(this.#byCause.get(cause) ?? []));
    this.#byCause.delete(cause);
  }

  /** The next one that waits for nothing any more. */
  next(): T | undefined {
    return this.#ready.shift();
  }
}
