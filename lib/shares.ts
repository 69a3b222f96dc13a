/**
 * Something finite that all sandboxes of a server use, like memory or descriptors. A holder may have at most as much as
 * it leaves free for all others: one alone gets half, n greedy ones get a part of n + 1 each, and whoever comes next
 * still finds some.
 */
export class Shares<Holder> {
  readonly total: number;
  readonly #held = new Map<Holder, number>();
  #free: number;

  constructor(total: number) {
    this.total = total;
    this.#free = total;
  }

  /** False, and nothing is taken, when it is more than the holder's share. What is taken has to be given back. */
  take(holder: Holder, amount: number): boolean {
    if (amount > this.available(holder)) return false;
    this.#held.set(holder, (this.#held.get(holder) ?? 0) + amount);
    this.#free -= amount;
    return true;
  }

  /** The most that `take` would grant the holder now. */
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
