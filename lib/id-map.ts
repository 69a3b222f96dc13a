/**
 * A map from ids to values that is also read from the newest id to the oldest: ids sort by creation time. Adding a
 * newest id costs the same for any number of entries.
 */
export class IdMap<V> extends Map<string, V> {
  /** Ascending. */
  readonly #ids: string[] = [];

  override set(id: string, value: V): this {
    if (!this.has(id)) this.#ids.splice(this.#below(id), 0, id);
    return super.set(id, value);
  }

  override delete(id: string): boolean {
    if (!super.delete(id)) return false;
    this.#ids.splice(this.#below(id), 1);
    return true;
  }

  override clear(): void {
    this.#ids.length = 0;
    super.clear();
  }

  /**
   * The values from the newest to the oldest. `before`: an id, which need not exist; only older ones are read. The map
   * must not change before the last value is read.
   */
  *newestFirst(before?: string): Generator<V, void, void> {
    const end = before === undefined ? this.#ids.length : this.#below(before);
    for (let index = end - 1; index >= 0; index--) yield this.get(this.#ids[index]!)!;
  }

  /** Number of ids that sort before `id`. */
  #below(id: string): number {
    const last = this.#ids.at(-1);
    if (last === undefined || last < id) return this.#ids.length;
    let [from, to] = [0, this.#ids.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#ids[middle]! < id) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
