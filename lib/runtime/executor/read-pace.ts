import { Turns } from '../../turns.ts';

/** What a read costs besides its bytes, so that single bytes are no way around the bound. */
const READ_COST = 4096;
/** What one read gives at most. */
const MOST_AT_ONCE = 65_536;

/** Whoever waits for its turn to read. */
export interface Paced {
  resume(): void;
}

/**
 * The threat: the output of many commands, all of it there at once, keeps the main thread reading. So all readers
 * together get a bounded number of bytes a turn; who comes after that waits, in order, for one of the next turns, and
 * everything else of the event loop comes in between.
 */
export class ReadPace {
  readonly #bytes: number;
  readonly #schedule: (next: () => void) => void;
  readonly #waiting = new Set<Paced>();
  #read = 0;
  #slow = false;
  #scheduled = false;

  /** `schedule` calls back when the next turn begins. */
  constructor(bytes: number, schedule: (next: () => void) => void) {
    this.#bytes = bytes;
    this.#schedule = schedule;
  }

  /** After each read. False: the reader stops, and is resumed at its next turn. A slow read is a turn's only one. */
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

  /** It does not wait any more. True: it did. */
  leave(reader: Paced): boolean {
    return this.#waiting.delete(reader);
  }

  #next(): void {
    this.#scheduled = false;
    this.#read = 0;
    let places = this.#slow ? 1 : Math.ceil(this.#bytes / MOST_AT_ONCE);
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

/** Bytes of output that all sandboxes together have read in one turn of the event loop: about a millisecond. */
const TURN_BYTES = 1_048_576;
/** What is left behind by ended commands is read to be dropped: of the whole server 50 MB/s at most. */
const DROPPED_BYTES = 262_144;
const DROP_MS = 5;

/** What keeps the sandboxes of a runtime from holding the main thread together. */
export interface ReadPaces {
  /** For the commands that run. */
  commands: ReadPace;
  /** For what nobody gets. */
  dropped: ReadPace;
  /** New runners enter their cgroups one a turn: the kernel may let each wait for milliseconds. */
  entries: Turns;
}

export const newReadPaces = (): ReadPaces => ({
  commands: new ReadPace(TURN_BYTES, (next) => void setImmediate(next)),
  dropped: new ReadPace(DROPPED_BYTES, (next) => void setTimeout(next, DROP_MS).unref()),
  entries: new Turns(),
});
