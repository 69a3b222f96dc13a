/**
 * Gives out inode numbers, each once. Those that no head ever named may be given out again by a later process: nothing that
 * is durable has them.
 */
export class Numbers {
  #next: number;

  constructor(next: number) {
    this.#next = next;
  }

  get next(): number {
    return this.#next;
  }

  take(): number {
    return this.#next++;
  }

  /** Others were given numbers below this one. */
  passOver(next: number): void {
    this.#next = Math.max(this.#next, next);
  }
}
