import type { ByteString } from '../byte-string.ts';
import { closeQuietly } from '../linux/close.ts';

/** An open directory of a tree, with its path in the tree. */
export interface HeldDirectory {
  readonly owner: Map<ByteString, HeldDirectory>;
  readonly path: ByteString;
  readonly fd: number;
}

/** Cache of open directories of all trees of a thread, at most `limit`, with least-recently-used eviction. */
export class HeldDirectories {
  readonly #limit: number;
  readonly #byUse = new Set<HeldDirectory>();
  #latest: HeldDirectory | undefined;

  /** `limit`: at least 8, so that a directory and its parent never evict each other. */
  constructor(limit: number) {
    this.#limit = Math.max(8, limit);
  }

  get size(): number {
    return this.#byUse.size;
  }

  hold(directory: HeldDirectory): void {
    directory.owner.set(directory.path, directory);
    this.#byUse.add(directory);
    this.#latest = directory;
    if (this.#byUse.size <= this.#limit) return;
    for (const oldest of this.#byUse) {
      this.release(oldest);
      return;
    }
  }

  used(directory: HeldDirectory): void {
    if (directory === this.#latest) return;
    this.#byUse.delete(directory);
    this.#byUse.add(directory);
    this.#latest = directory;
  }

  release(directory: HeldDirectory): void {
    if (!this.#byUse.delete(directory)) return;
    directory.owner.delete(directory.path);
    if (this.#latest === directory) this.#latest = undefined;
    closeQuietly(directory.fd);
  }

  /** Closes all descriptors, for a process that has none left. */
  releaseAll(): void {
    for (const directory of this.#byUse) this.release(directory);
  }
}
