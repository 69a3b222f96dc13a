import { type ByteString, baseNameOf, parentOf, ROOT_PATH } from '../../byte-string.ts';

/**
 * Caches a value for each directory on the way to a path, so that many paths in a deep tree cost one step for each
 * directory. Valid while nothing changes above the requested paths.
 */
export class PathMemo<T> {
  readonly #known: Map<ByteString, T>;
  readonly #step: (above: T, name: ByteString, path: ByteString) => T;

  /** `step` computes the value of a directory from that of its parent, its name and its path. */
  constructor(root: T, step: (above: T, name: ByteString, path: ByteString) => T) {
    this.#known = new Map([[ROOT_PATH, root]]);
    this.#step = step;
  }

  /** Returns the value of a path. */
  at(path: ByteString): T {
    const missing: ByteString[] = [];
    let above = path;
    for (; !this.#known.has(above); above = parentOf(above)) missing.push(above);
    let value = this.#known.get(above) as T;
    for (const each of missing.reverse()) {
      value = this.#step(value, baseNameOf(each), each);
      this.#known.set(each, value);
    }
    return value;
  }
}
