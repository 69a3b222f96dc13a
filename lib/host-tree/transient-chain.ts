import type { ByteString } from '../byte-string.ts';
import { closeQuietly } from '../linux/close.ts';

/** Milliseconds without a new directory: about the length of one slice of work. */
const IDLE_MS = 5;
/** Milliseconds since the first directory: the walk down the deepest path there can be, and lookups at its end. */
const LIFETIME_MS = 100;
/** Open at once; the ones nearest to the root are closed first. */
const MAX_OPEN = 256;

export interface OpenDirectory {
  readonly path: ByteString;
  readonly fd: number;
}

/**
 * The open directories of the latest path that was resolved below a changing one, outermost first, each below the one
 * before. They may show what the tree has no more, so they last for some milliseconds only: long enough for a walk down
 * a deep path to cost a step a level, and short enough to be the race that any lookup is during a change.
 */
export class TransientChain {
  readonly #now: () => number;
  readonly #open: OpenDirectory[] = [];
  #since = 0;
  #latest = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The deepest one at or above `path`. Those that are not on the way to it are closed. */
  deepest(path: ByteString): OpenDirectory | undefined {
    if (this.#open.length === 0) return undefined;
    const now = this.#now();
    if (now - this.#latest > IDLE_MS || now - this.#since > LIFETIME_MS) this.close();
    for (let last = this.#open.at(-1); last !== undefined; last = this.#open.at(-1)) {
      if (path.startsWith(last.path) && (path.length === last.path.length || path[last.path.length] === '/'))
        return last;
      this.#open.pop();
      closeQuietly(last.fd);
    }
    return undefined;
  }

  /** Takes over a directory below the deepest one. */
  push(directory: OpenDirectory): void {
    this.#latest = this.#now();
    if (this.#open.length === 0) this.#since = this.#latest;
    this.#open.push(directory);
    if (this.#open.length > MAX_OPEN) closeQuietly(this.#open.shift()!.fd);
  }

  close(): void {
    for (const { fd } of this.#open.splice(0)) closeQuietly(fd);
  }
}
