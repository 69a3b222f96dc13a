/** Fewest slots of an index. */
const FEWEST = 8;
/** A slot whose row was removed. */
const REMOVED = -1;

/**
 * A hash table of the rows of another structure, by open addressing with linear probing: 4 bytes a slot, at most 7/8 of
 * them used. It stores no keys: the caller computes the hash of a row and compares rows. Rows are integers from 0 to
 * 2^31 - 3. Source: D. E. Knuth, "The Art of Computer Programming", volume 3, section 6.4.
 */
export class RowIndex {
  readonly #hashOf: (row: number) => number;
  /** Rows plus 1; 0: unused. */
  #slots = new Int32Array(0);
  #count = 0;
  /** Slots that are not 0. */
  #used = 0;

  /** `hashOf`: returns the hash of an added row, an integer; used when the table grows. */
  constructor(hashOf: (row: number) => number) {
    this.#hashOf = hashOf;
  }

  /** Returns the first row with this hash for which `matches` returns true. */
  find(hash: number, matches: (row: number) => boolean): number | undefined {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let at = hash & mask; mask > 0 && slots[at] !== 0; at = (at + 1) & mask) {
      const row = slots[at]! - 1;
      if (row >= 0 && matches(row)) return row;
    }
    return undefined;
  }

  /** Adds a row that is not in the table. */
  add(hash: number, row: number): void {
    if ((this.#used + 1) * 8 > this.#slots.length * 7) this.#resize();
    this.#put(hash, row);
    this.#count++;
  }

  /** Removes a row, if it is in the table. */
  remove(hash: number, row: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let at = hash & mask; mask > 0 && slots[at] !== 0; at = (at + 1) & mask) {
      if (slots[at] !== row + 1) continue;
      slots[at] = REMOVED;
      this.#count--;
      return;
    }
  }

  #put(hash: number, row: number): void {
    const mask = this.#slots.length - 1;
    let at = hash & mask;
    while (this.#slots[at] !== 0) at = (at + 1) & mask;
    this.#slots[at] = row + 1;
    this.#used++;
  }

  /** Makes room for as many rows again, without the slots of removed ones. */
  #resize(): void {
    const before = this.#slots;
    let size = FEWEST;
    while (size * 7 < (this.#count + 1) * 8 * 1.5) size *= 2;
    this.#slots = new Int32Array(size);
    this.#used = 0;
    for (const slot of before) if (slot > 0) this.#put(this.#hashOf(slot - 1), slot - 1);
  }
}

/** Returns a hash of an integer up to 2^53, mixed so that consecutive ones are spread. */
export function hashOfNumber(number: number): number {
  return mix((number | 0) ^ Math.imul((number / 2 ** 32) | 0, 0x85ebca6b));
}

/** Spreads the bits of a 32-bit hash. Source: MurmurHash3's 32-bit finalizer, A. Appleby. */
export function mix(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
