import type { ByteString } from '../byte-string.ts';
import { closeQuietly } from '../linux/close.ts';

/** Milliseconds without a new directory after which all are closed: about the length of one slice of work. */
const IDLE_MS = 5;
/** Milliseconds after the first directory: enough to resolve the deepest possible path and lookups at its end. */
const LIFETIME_MS = 100;
/** Maximum number of open directories; the ones nearest to the root are closed first. */
const MAX_OPEN = 256;

export interface OpenDirectory {
  readonly path: ByteString;
  readonly fd: number;
}

/**
 * The open directories of the latest path resolved below a changing one, from the outermost to the innermost. They may
 * show entries that the tree no longer has, so they are kept for some milliseconds only: long enough that resolving a
 * deep path costs one step per level, and short enough to be equivalent to the race of any lookup during a change.
 */
export class TransientChain {
  readonly #now: () => number;
  readonly #open: OpenDirectory[] = [];
  #since = 0;
  #latest = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the deepest directory at or above `path` and closes those that are not its ancestors. */
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

  /** Takes ownership of a directory below the deepest one. */
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
