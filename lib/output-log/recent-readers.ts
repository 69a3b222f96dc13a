/** Milliseconds after a read in which its reader is expected to go on. */
const RECENT_MS = 1000;
const MAX_READERS = 16;
/** Times in a row that output was dropped before a reader had it. It is then too slow, and not waited for. */
const TOO_LATE = 8;
/**
 * After a wait in vain for readers that are too slow, the process goes on without one for so many times its length, which
 * bounds what they cost it. Then they get one more: a reader may be fast again.
 */
const PAUSE = 40;

interface Reader {
  next: number;
  at: number;
  late: number;
}

/**
 * Where readers of a log are. A reader is known by its last read: the next one starts where that ended. One that left
 * counts for RECENT_MS after its last read. One that is too slow counts again after a pause, or once it has reached the
 * end of the log.
 */
export class RecentReaders {
  readonly #now: () => number;
  #readers: Reader[] = [];
  /** When readers that are too slow are waited for once more: all at the same time, so that many cost no more than one. */
  #retryAt = 0;
  #moved: (() => void) | undefined;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A read of the output between two offsets has ended. `end`: that of the log. */
  read(from: number, next: number, end: number = Number.POSITIVE_INFINITY): void {
    const others = this.#readers.filter((reader) => reader.next !== from);
    // Of several readers at the same place, one moved.
    const [moved, ...rest] = this.#readers.filter((reader) => reader.next === from);
    const late = next === end ? 0 : (moved?.late ?? 0);
    this.#readers = [...others, ...rest, { next, at: this.#now(), late }].slice(-MAX_READERS);
    this.#moved?.();
  }

  /** Whether a reader still needs output before `offset`, of those that have read within so many milliseconds. */
  before(offset: number, milliseconds = RECENT_MS): boolean {
    if (this.#readers.length === 0) return false;
    const now = this.#now();
    this.#readers = this.#readers.filter(({ at }) => at > now - RECENT_MS);
    return this.#readers.some(({ next, at, late }) => at > now - milliseconds && late < TOO_LATE && next < offset);
  }

  /**
   * Resolves when no reader needs output before `offset`, and after so many milliseconds. `recent`: as for `before`. One
   * call at a time.
   */
  async passed(offset: number, milliseconds: number, recent = RECENT_MS): Promise<void> {
    if (!this.before(offset, recent)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#moved = undefined;
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      this.#moved = () => {
        if (!this.before(offset, recent)) done();
      };
    });
  }

  /** As `passed`, before the output up to `offset` is dropped. */
  async dropped(offset: number, milliseconds: number): Promise<void> {
    const isRetry = this.#now() >= this.#retryAt;
    if (isRetry) for (const reader of this.#readers) reader.late = Math.min(reader.late, TOO_LATE - 1);
    await this.passed(offset, milliseconds);
    for (const reader of this.#readers) {
      if (reader.late < TOO_LATE) reader.late = reader.next < offset ? reader.late + 1 : 0;
    }
    const someAreTooSlow = this.#readers.some(({ late }) => late === TOO_LATE);
    if (isRetry && someAreTooSlow) this.#retryAt = this.#now() + PAUSE * milliseconds;
  }
}
