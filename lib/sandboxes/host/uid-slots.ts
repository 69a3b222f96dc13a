/**
 * Allocates a host uid for each sandbox. A released uid is reused last, so that files left by its last holder stay
 * inaccessible for as long as possible.
 */
export class UidSlots {
  readonly #start: number;
  readonly #size: number;
  readonly #taken = new Set<number>();
  #next = 0;

  constructor(range: { start: number; size: number }) {
    this.#start = range.start;
    this.#size = range.size;
  }

  /** Returns undefined if all are in use. */
  take(): number | undefined {
    for (let tried = 0; tried < this.#size; tried++) {
      const uid = this.#start + this.#next;
      this.#next = (this.#next + 1) % this.#size;
      if (this.#taken.has(uid)) continue;
      this.#taken.add(uid);
      return uid;
    }
    return undefined;
  }

  /** Number of those that are not in use. */
  get free(): number {
    return this.#size - this.#taken.size;
  }

  /** Whether the uid is one of the range. */
  contains(uid: number): boolean {
    return uid >= this.#start && uid - this.#start < this.#size;
  }

  /** Marks a uid allocated by an earlier server as in use. Returns false if it is in use already. */
  reserve(uid: number): boolean {
    if (this.#taken.has(uid)) return false;
    this.#taken.add(uid);
    return true;
  }

  /** Must be called only when the uid owns nothing on the host: no process, no delta. */
  release(uid: number): void {
    this.#taken.delete(uid);
  }
}
