/**
 * Host uids for sandboxes, one each. One that was given back is the last to be given out again, so that what may have
 * been left behind by its last holder stays foreign for as long as possible.
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

  /** undefined: all are in use. */
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

  /** Marks one as in use that was given out by an earlier server; false: it is already. */
  reserve(uid: number): boolean {
    if (this.#taken.has(uid)) return false;
    this.#taken.add(uid);
    return true;
  }

  /** Only once nothing on the host is owned by it: no process, no delta. */
  release(uid: number): void {
    this.#taken.delete(uid);
  }
}
