/** Milliseconds after a read in which its reader is expected to go on. */
const RECENT_MS = 1000;
const MAX_READERS = 16;

/**
 * Where readers of a log are. A reader is known by its last read: the next one starts where that ended. One that left,
 * or is slow, counts for RECENT_MS after its last read.
 */
export class RecentReaders {
  readonly #now: () => number;
  #readers: { next: number; at: number }[] = [];
  #moved: (() => void) | undefined;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A read of the output between two offsets has ended. */
  read(from: number, next: number): void {
    const others = this.#readers.filter((reader) => reader.next !== from);
    // Of several readers at the same place, one moved.
    const rest = this.#readers.filter((reader) => reader.next === from).slice(1);
    this.#readers = [...others, ...rest, { next, at: this.#now() }].slice(-MAX_READERS);
    this.#moved?.();
  }

  /** Whether a reader still needs output before `offset`. Readers before `from` do not count. */
  before(offset: number, from = 0): boolean {
    if (this.#readers.length === 0) return false;
    const since = this.#now() - RECENT_MS;
    this.#readers = this.#readers.filter(({ at }) => at > since);
    return this.#readers.some(({ next }) => from <= next && next < offset);
  }

  /**
   * Resolves when no reader needs output before `offset`, and after so many milliseconds. Readers before `from` do not
   * count. One call at a time.
   */
  async passed(offset: number, milliseconds: number, from = 0): Promise<void> {
    if (!this.before(offset, from)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#moved = undefined;
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      this.#moved = () => {
        if (!this.before(offset, from)) done();
      };
    });
  }
}
