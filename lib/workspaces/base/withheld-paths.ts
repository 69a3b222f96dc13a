import { type ByteString, joinPath } from '../../byte-string.ts';
import { dividedIfLarge, type LargeMap } from '../delta/index/divided-map.ts';

/**
 * Paths that the workspace's own commit adds to the base, or at which a directory and something else replace each other. Programs
 * go on meanwhile: until the delta is rebased, the base has nothing there for this workspace, so that what they do is recorded
 * in the same way before and after the codebase has the path. All that the commit adds below such a path is withheld, too.
 */
export class WithheldPaths {
  /** A commit of the workspace is being made, or was made, and it is not yet rebased. */
  isCommitting = false;
  #paths: LargeMap<ByteString, true> = new Map();

  has(path: ByteString): boolean {
    return this.#paths.size > 0 && this.#paths.has(path);
  }

  hasIn(directory: ByteString, name: ByteString): boolean {
    return this.#paths.size > 0 && this.#paths.has(joinPath(directory, name));
  }

  add(path: ByteString): void {
    this.#paths = dividedIfLarge(this.#paths).set(path, true);
  }

  /** Returns whether the path was withheld. */
  delete(path: ByteString): boolean {
    return this.#paths.delete(path);
  }
}
