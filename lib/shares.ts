/**
 * A finite resource shared by all sandboxes, like memory or descriptors. A holder may take until it has as much as it
 * leaves free: a single one gets half, and each further one half of what is left. So k holders leave at least 1/2^k of
 * the whole.
 */
export class Shares<Holder> {
  readonly total: number;
  readonly #held = new Map<Holder, number>();
  #free: number;

  constructor(total: number) {
    this.total = total;
    this.#free = total;
  }

  /**
   * Allocates `amount`. Returns false, and allocates nothing, if it exceeds the holder's share. The caller must free
   * it.
   */
  take(holder: Holder, amount: number): boolean {
    if (amount > this.available(holder)) return false;
    this.#held.set(holder, (this.#held.get(holder) ?? 0) + amount);
    this.#free -= amount;
    return true;
  }

  /** The maximum amount that `take` would grant the holder now. */
  available(holder: Holder): number {
    return Math.max(0, Math.floor((this.#free - (this.#held.get(holder) ?? 0)) / 2));
  }

  give(holder: Holder, amount: number): void {
    const left = (this.#held.get(holder) ?? 0) - amount;
    if (left > 0) this.#held.set(holder, left);
    else this.#held.delete(holder);
    this.#free += amount;
  }

  held(holder: Holder): number {
    return this.#held.get(holder) ?? 0;
  }
}
