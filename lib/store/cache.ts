/** What a value takes beside its bytes. */
const OVERHEAD = 300;

/** Values by the bytes that they take, the most recently used ones. Several stores share one: each has a part. */
export class Cache<K, V> {
  readonly #limit: number;
  readonly #least: number;
  #bytes = 0;
  #count = 0;
  /** A ring: the least recently used value comes after it. */
  readonly #ring = new Cached<K, V>();

  /** At least `least` values stay, however large they are. */
  constructor(limit: number, least = 16) {
    this.#limit = limit;
    this.#least = least;
  }

  get bytes(): number {
    return this.#bytes;
  }

  part(): CachePart<K, V> {
    const values = new Map<K, Cached<K, V>>();
    return {
      get: (key) => {
        const cached = values.get(key);
        cached?.moveBefore(this.#ring);
        return cached?.value;
      },
      set: (key, value, bytes) => {
        this.#remove(values.get(key));
        const cached = new Cached<K, V>(values, key, value, bytes + OVERHEAD);
        values.set(key, cached);
        cached.moveBefore(this.#ring);
        this.#bytes += cached.bytes;
        this.#count++;
        this.#trim();
      },
      delete: (key) => this.#remove(values.get(key)),
      clear: () => {
        for (const cached of [...values.values()]) this.#remove(cached);
      },
    };
  }

  #trim(): void {
    while (this.#bytes > this.#limit && this.#count > this.#least) this.#remove(this.#ring.next);
  }

  #remove(cached: Cached<K, V> | undefined): void {
    if (cached === undefined) return;
    cached.unlink();
    cached.values?.delete(cached.key!);
    this.#bytes -= cached.bytes;
    this.#count--;
  }
}

export interface CachePart<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V, bytes: number): void;
  delete(key: K): void;
  clear(): void;
}

/** A value in the ring, or the ring's own place. */
class Cached<K, V> {
  next: Cached<K, V> = this;
  previous: Cached<K, V> = this;
  readonly values: Map<K, Cached<K, V>> | undefined;
  readonly key: K | undefined;
  readonly value: V | undefined;
  readonly bytes: number;

  constructor(values?: Map<K, Cached<K, V>>, key?: K, value?: V, bytes = 0) {
    this.values = values;
    this.key = key;
    this.value = value;
    this.bytes = bytes;
  }

  unlink(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
  }

  moveBefore(other: Cached<K, V>): void {
    this.unlink();
    this.next = other;
    this.previous = other.previous;
    other.previous.next = this;
    other.previous = this;
  }
}
