import type { Refusal } from './refusal.ts';

/** Patterns, and bytes of them, by which an export leaves files out; the server takes as many again. */
const MOST = 500;
const MOST_BYTES = 32 * 1024;

/** The bytes that may come. Files take them in order, and one that does not fit is left out. */
export class Room {
  readonly #all: number;
  #left: number;

  constructor(bytes: number) {
    this.#all = bytes;
    this.#left = bytes;
  }

  /** Takes the bytes of a file, or says why it does not come. */
  take(size: number): Refusal | undefined {
    if (size <= this.#left) {
      this.#left -= size;
      return undefined;
    }
    const left = this.#left === this.#all ? '' : `, of which ${this.#left} are left`;
    return { reason: `it has ${size} bytes, and all that comes may have ${this.#all}${left}`, option: 'maxBytes' };
  }
}

/** Globs for these files and nothing else, the largest first, as many as a request has room for. */
export function without(files: readonly { path: string; size: number }[]): string[] {
  let bytes = 0;
  return [...files]
    .sort((a, b) => b.size - a.size)
    .map(({ path }) => path.replace(/[*?[\]{}\\]/g, '\\$&'))
    .filter((glob, index) => {
      bytes += Buffer.byteLength(glob);
      return index < MOST && bytes <= MOST_BYTES;
    });
}
