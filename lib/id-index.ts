import { byId, SortedList } from './sorted-list.ts';

/** Values with ids, in several lists by key, each of which is read from the newest id to the oldest. */
export class IdIndex<T extends { readonly id: string }> {
  readonly #lists = new Map<string, SortedList<T>>();

  add(key: string, item: T): void {
    let list = this.#lists.get(key);
    if (list === undefined) {
      list = new SortedList<T>(byId);
      this.#lists.set(key, list);
    }
    list.add(item);
  }

  delete(key: string, item: T): void {
    const list = this.#lists.get(key);
    list?.delete(item);
    if (list?.size === 0) this.#lists.delete(key);
  }

  size(key: string): number {
    return this.#lists.get(key)?.size ?? 0;
  }

  /** A copy, the oldest first; at most `most`. */
  of(key: string, most = Number.POSITIVE_INFINITY): T[] {
    return this.#lists.get(key)?.first(most) ?? [];
  }

  /** Only older ones than `before`, an id that need not exist. The index must not change before the last value is read. */
  *newestFirst(key: string, before?: string): Generator<T, void, void> {
    const list = this.#lists.get(key);
    if (list !== undefined)
      yield* list.backwards(before === undefined ? list.size : list.count(({ id }) => id < before));
  }
}
