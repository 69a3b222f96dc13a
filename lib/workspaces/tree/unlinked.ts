import { storedBytes } from './counters.ts';
import type { OwnFile } from './items.ts';

/** Files without a name that are open: no journal and no freeze has them, but their contents are on the disk. */
export class Unlinked {
  bytes = 0;
  readonly #files = new Set<OwnFile>();

  get files(): number {
    return this.#files.size;
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
