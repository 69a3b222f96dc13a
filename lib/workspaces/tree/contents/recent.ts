/** Keys that were used last, with a value each. What is used moves to the new half; when that is full, the old one goes. */
export class Recent<K, V> {
  readonly #half: number;
  #new = new Map<K, V>();
  #old = new Map<K, V>();

  /** `most`: values, about. */
  constructor(most: number) {
    this.#half = most / 2;
  }

  get(key: K): V | undefined {
    const value = this.#new.get(key);
    if (value !== undefined) return value;
    const older = this.#old.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: K, value: V): void {
    this.#new.set(key, value);
    if (this.#new.size < this.#half) return;
    this.#old = this.#new;
    this.#new = new Map();
  }
}
