import { hashOfNumber, hashOfText } from './row-index.ts';

/** A power of two. */
const PARTS = 256;
/** Keys from which on a map is divided. */
const MANY = 1 << 12;

/** A map of any size. */
export type LargeMap<K extends string | number, V> = Map<K, V> | DividedMap<K, V>;

/** Returns the map, divided if it has become large; the caller uses the returned one from then on. */
export function dividedIfLarge<K extends string | number, V>(map: LargeMap<K, V>): LargeMap<K, V> {
  return map.size < MANY || map instanceof DividedMap ? map : new DividedMap(map);
}

/**
 * A map divided into parts by a hash of the key, each of which grows at another time. A Map of a million keys blocks
 * for some hundredths of a second when it grows. In no particular order.
 */
class DividedMap<K extends string | number, V> {
  readonly #parts = Array.from({ length: PARTS }, () => new Map<K, V>());
  /** Makes keys of the same part unpredictable. */
  readonly #seed = Math.floor(Math.random() * 2 ** 31);
  #size = 0;

  constructor(entries: Iterable<[K, V]>) {
    for (const [key, value] of entries) this.set(key, value);
  }

  get size(): number {
    return this.#size;
  }

  get(key: K): V | undefined {
    return this.#part(key).get(key);
  }

  has(key: K): boolean {
    return this.#part(key).has(key);
  }

  set(key: K, value: V): this {
    const part = this.#part(key);
    const before = part.size;
    this.#size += part.set(key, value).size - before;
    return this;
  }

  delete(key: K): boolean {
    const isRemoved = this.#part(key).delete(key);
    if (isRemoved) this.#size--;
    return isRemoved;
  }

  *keys(): Generator<K> {
    for (const part of this.#parts) yield* part.keys();
  }

  *values(): Generator<V> {
    for (const part of this.#parts) yield* part.values();
  }

  *[Symbol.iterator](): Generator<[K, V]> {
    for (const part of this.#parts) yield* part;
  }

  #part(key: K): Map<K, V> {
    // Parts of consecutive numbers would all grow at the same time.
    const hash = typeof key === 'number' ? hashOfNumber(key) : hashOfText(this.#seed, key, 0, key.length);
    return this.#parts[hash & (PARTS - 1)]!;
  }
}
