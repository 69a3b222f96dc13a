/** Fixed cost of a read in bytes, so that reads of single bytes are bounded, too. */
const READ_COST = 4096;
/** Maximum bytes of one read. */
const MAX_READ_BYTES = 262_144;

/** A reader that waits for its turn. */
export interface Paced {
  resume(): void;
}

/**
 * Bounds the bytes that all readers together read per turn of the event loop. The threat: the output of many commands,
 * available all at once, keeps the main thread reading. Readers above the bound wait in order for a later turn, and
 * other events are handled in between.
 */
export class ReadPace {
  readonly #bytes: number;
  readonly #schedule: (next: () => void) => void;
  readonly #waiting = new Set<Paced>();
  #read = 0;
  #slow = false;
  #scheduled = false;

  /** `schedule` calls back at the beginning of the next turn. */
  constructor(bytes: number, schedule: (next: () => void) => void) {
    this.#bytes = bytes;
    this.#schedule = schedule;
  }

  /**
   * Accounts for a read. Returns false if the reader must stop; it is resumed in a later turn. A slow read is the only
   * one of its turn.
   */
  took(reader: Paced, size: number, slow = false): boolean {
    this.#read += size + READ_COST;
    this.#slow ||= slow;
    if (!slow && this.#read < this.#bytes && this.#waiting.size === 0) return true;
    this.#waiting.add(reader);
    if (!this.#scheduled) {
      this.#scheduled = true;
      this.#schedule(() => this.#next());
    }
    return false;
  }

  /** Removes the reader from the queue. Returns whether it was queued. */
  leave(reader: Paced): boolean {
    return this.#waiting.delete(reader);
  }

  #next(): void {
    this.#scheduled = false;
    this.#read = 0;
    let places = this.#slow ? 1 : Math.ceil(this.#bytes / MAX_READ_BYTES);
    this.#slow = false;
    for (const reader of this.#waiting) {
      if (places-- === 0) break;
      this.#waiting.delete(reader);
      reader.resume();
    }
    if (this.#waiting.size > 0 && !this.#scheduled) {
      this.#scheduled = true;
      this.#schedule(() => this.#next());
    }
  }
}
