import type { ByteString } from '../../byte-string.ts';

/**
 * What was found for each directory on the way to a path, so that many paths in one deep tree cost each of its directories
 * one step. Good for as long as nothing changes above the paths that were asked for.
 */
export class Ways<T> {
  readonly #known: Map<ByteString, T>;
  readonly #step: (above: T, name: ByteString, path: ByteString) => T;

  /** `step` goes from a directory to the one in it that has the name, and the path. */
  constructor(root: T, step: (above: T, name: ByteString, path: ByteString) => T) {
    this.#known = new Map([['', root]]);
    this.#step = step;
  }

  at(path: ByteString): T {
    const missing: ByteString[] = [];
    let above = path;
    for (; !this.#known.has(above); above = parentOf(above)) missing.push(above);
    let value = this.#known.get(above) as T;
    for (const each of missing.reverse()) {
      value = this.#step(value, each.slice(each.lastIndexOf('/') + 1), each);
      this.#known.set(each, value);
    }
    return value;
  }
}

/** Of a path in the root: ''. */
export function parentOf(path: ByteString): ByteString {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
