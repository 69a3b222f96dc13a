import type { ByteString } from '../../byte-string.ts';

/** Of the paths that are kept, the first ones: programs can try any number. */
const MAX_PATHS = 256;
const MAX_BYTES = 64 * 1024;

/** A path at which the rules refused what a program tried. */
export interface RefusedPath {
  path: ByteString;
  /** Number of times. */
  count: number;
  /** It was looked up and hidden, if it exists: that is looked at when the owner asks, because programs could tell the time. */
  isLookup: boolean;
}

/** What the rules refused the programs of one sandbox since it started. Only its owner is told. */
export class Refusals {
  #paths: Map<ByteString, RefusedPath> | undefined;
  #bytes = 0;

  add(path: ByteString, isLookup = false): void {
    this.#paths ??= new Map();
    const known = this.#paths.get(path);
    if (known !== undefined) {
      known.count++;
      known.isLookup &&= isLookup;
    } else if (this.#paths.size < MAX_PATHS && this.#bytes + path.length <= MAX_BYTES) {
      this.#bytes += path.length;
      this.#paths.set(path, { path, count: 1, isLookup });
    }
  }

  list(): RefusedPath[] {
    return [...(this.#paths?.values() ?? [])];
  }
}
