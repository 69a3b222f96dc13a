/** Fewest slots of an index. */
const FEWEST = 8;
/** A slot whose row was removed. */
const REMOVED = -1;

/** Fewest slots that an addition moves. */
const MOVED_AT_ONCE = 16;

const NONE = new Int32Array(0);

/**
 * A hash table of the rows of another structure, by open addressing with linear probing: 4 bytes a slot, at most 7/8 of
 * them used. It stores no keys: the caller computes the hash of a row and compares rows. Rows are integers from 0 to
 * 2^31 - 3. Source: D. E. Knuth, "The Art of Computer Programming", volume 3, section 6.4.
 *
 * When it grows, each addition moves a few rows, so that none blocks for long.
 */
export class RowIndex {
  readonly #hashOf: (row: number) => number;
  /** Rows plus 1; 0: unused. */
  #slots = NONE;
  /** The smaller table with the rows that were not moved yet: those from slot `#moved` on. */
  #before = NONE;
  #moved = 0;
  /** Slots of it that each addition moves: the last one is moved before the new table is full. */
  #movedAtOnce = 0;
  #count = 0;
  /** Slots that are not 0. */
  #used = 0;

  /** `hashOf`: returns the hash of an added row, an integer; used when the table grows. */
  constructor(hashOf: (row: number) => number) {
    this.#hashOf = hashOf;
  }

  /** Returns the first row with this hash for which `matches` returns true. */
  find(hash: number, matches: (row: number) => boolean): number | undefined {
    return (
      rowAt(this.#slots, slotOf(this.#slots, hash, matches)) ?? rowAt(this.#before, slotOf(this.#before, hash, matches))
    );
  }

  /** Adds a row that is not in the table. */
  add(hash: number, row: number): void {
    if ((this.#used + 1) * 8 > this.#slots.length * 7) this.#grow();
    this.#put(hash, row);
    this.#count++;
    if (this.#before !== NONE) this.#moveSome();
  }

  /** Removes a row, if it is in the table. */
  remove(hash: number, row: number): void {
    for (const slots of [this.#slots, this.#before]) {
      const at = slotOf(slots, hash, (other) => other === row);
      if (at === undefined) continue;
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

  /** Begins a table with room for as many rows again, without the slots of removed ones. */
  #grow(): void {
    let size = FEWEST;
    while (size * 7 < (this.#count + 1) * 8 * 1.5) size *= 2;
    this.#before = this.#slots;
    this.#moved = 0;
    const room = Math.floor((size * 7) / 8) - this.#count;
    this.#movedAtOnce = Math.max(MOVED_AT_ONCE, Math.ceil(this.#before.length / room));
    this.#slots = new Int32Array(size);
    this.#used = 0;
  }

  #moveSome(): void {
    const end = Math.min(this.#moved + this.#movedAtOnce, this.#before.length);
    for (; this.#moved < end; this.#moved++) {
      const slot = this.#before[this.#moved]!;
      if (slot <= 0) continue;
      this.#put(this.#hashOf(slot - 1), slot - 1);
      // Others behind it are still found.
      this.#before[this.#moved] = REMOVED;
    }
    if (end === this.#before.length) this.#before = NONE;
  }
}

function slotOf(slots: Int32Array, hash: number, matches: (row: number) => boolean): number | undefined {
  const mask = slots.length - 1;
  for (let at = hash & mask; mask > 0 && slots[at] !== 0; at = (at + 1) & mask) {
    const row = slots[at]! - 1;
    if (row >= 0 && matches(row)) return at;
  }
  return undefined;
}

function rowAt(slots: Int32Array, at: number | undefined): number | undefined {
  return at === undefined ? undefined : slots[at]! - 1;
}

/** Returns a hash of an integer up to 2^53, mixed so that consecutive ones are spread. */
export function hashOfNumber(number: number): number {
  return mix((number | 0) ^ Math.imul((number / 2 ** 32) | 0, 0x85ebca6b));
}

/** Returns a hash of a part of a text. */
export function hashOfText(seed: number, text: string, start: number, end: number): number {
  let hash = mix(seed);
  for (let at = start; at < end; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash ^= hash >>> 15;
  }
  return mix(hash);
}

/** Spreads the bits of a 32-bit hash. Source: MurmurHash3's 32-bit finalizer, A. Appleby. */
function mix(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
