/** Items of one part. */
const PART = 1 << 12;

/** A list whose length is known: an array, or a divided one. */
export interface Listed<T> extends Iterable<T> {
  readonly length: number;
}

/**
 * A list of any length, in parts of a bounded length, the last of which grows. An array of a million items is copied when
 * it grows, in one step of 10 to 20 ms.
 */
export class DividedList<T> implements Listed<T> {
  readonly #full: T[][] = [];
  #last: T[];

  /** Takes over `items`, at most as many as a part has. */
  constructor(items: T[] = []) {
    this.#last = items;
  }

  get length(): number {
    return this.#full.length * PART + this.#last.length;
  }

  push(item: T): void {
    if (this.#last.length === PART) {
      this.#full.push(this.#last);
      this.#last = [];
    }
    this.#last.push(item);
  }

  /** Removes the last item and returns it; undefined: there is none. */
  pop(): T | undefined {
    if (this.#last.length === 0) this.#last = this.#full.pop() ?? this.#last;
    return this.#last.pop();
  }

  /** The parts, in order. None but the last is empty. */
  get parts(): readonly (readonly T[])[] {
    return [...this.#full, this.#last];
  }

  /** All items, in order. */
  *[Symbol.iterator](): Generator<T> {
    for (const part of this.parts) for (const item of part) yield item;
  }
}
