import { TurnTime } from '../../turn-time.ts';
import { Turns } from '../../turns.ts';

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

/** Bytes of output that all sandboxes together read in one turn of the event loop: about a millisecond. */
const TURN_BYTES = 1_048_576;
/** Bytes per turn of discarded output of background processes: at most 50 MB/s for the whole server. */
const DROPPED_BYTES = 262_144;
const DROP_MS = 5;
/** Milliseconds per turn for the endings of commands. One step may take a little longer (see PipeReader.drain). */
const ENDINGS_MS = 4;

/** The paces shared by all sandboxes of a runtime, so that they cannot occupy the main thread together. */
export interface ReadPaces {
  /** For commands in progress. */
  commands: ReadPace;
  /** For discarded output. */
  dropped: ReadPace;
  /** New runners enter their cgroups one per turn: the kernel may block for milliseconds each time. */
  entries: Turns;
  /** Long commands are written one piece per turn. */
  scripts: Turns;
  /** Kills and last reads of commands that end. */
  endings: TurnTime;
}

export const newReadPaces = (): ReadPaces => ({
  commands: new ReadPace(TURN_BYTES, (next) => void setImmediate(next)),
  dropped: new ReadPace(DROPPED_BYTES, (next) => void setTimeout(next, DROP_MS).unref()),
  entries: new Turns(),
  scripts: new Turns(),
  endings: new TurnTime(ENDINGS_MS),
});
