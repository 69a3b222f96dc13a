/** Values in an order, no two of which are equal. A position is found by halving; moving what follows it costs little. */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #items: T[] = [];

  /** `compare`: below 0 if `a` comes first; 0 for the same value only. */
  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The value must not be in the list. */
  add(item: T): void {
    const last = this.#items.at(-1);
    if (last === undefined || this.#compare(last, item) < 0) this.#items.push(item);
    else this.#items.splice(this.#positionOf(item), 0, item);
  }

  /** Nothing if the value is not in the list. */
  delete(item: T): void {
    const position = this.#positionOf(item);
    if (this.#items[position] === item) this.#items.splice(position, 1);
  }

  /** Number of values at the beginning for which `isBelow`; it must be false for all that follow the first other. */
  count(isBelow: (item: T) => boolean): number {
    let [from, to] = [0, this.#items.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (isBelow(this.#items[middle]!)) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** The first `count` values. */
  first(count: number): T[] {
    return this.#items.slice(0, count);
  }

  /** From the last of the first `count` values to the first. The list must not change meanwhile. */
  *backwards(count = this.#items.length): Generator<T, void, void> {
    for (let index = count - 1; index >= 0; index--) yield this.#items[index]!;
  }

  #positionOf(item: T): number {
    return this.count((each) => this.#compare(each, item) < 0);
  }
}

/** For values of different ids. */
export function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
