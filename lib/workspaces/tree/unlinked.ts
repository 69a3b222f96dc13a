import type { Key } from '../../trees/format/keys.ts';
import { storedBytes } from './counters.ts';
import type { OwnFile } from './items.ts';

/** Files without a name that are open: no journal and no freeze has them, but their contents are on the disk. */
export class Unlinked {
  bytes = 0;
  readonly #files = new Set<OwnFile>();

  get files(): number {
    return this.#files.size;
  }

  /** Of their contents. */
  *keys(): Generator<Key, void, void> {
    for (const { entry } of this.#files) yield entry.key;
  }

  keep(file: OwnFile): void {
    if (this.#files.has(file)) return;
    this.#files.add(file);
    this.bytes += storedBytes(file.entry);
  }

  /** It is closed, or has a name again. */
  release(file: OwnFile): void {
    if (this.#files.delete(file)) this.bytes -= storedBytes(file.entry);
  }

  resized(file: OwnFile, by: number): void {
    if (this.#files.has(file)) this.bytes += by;
  }
}
