import type { Slabs } from '../../delta/contents/slabs.ts';
import type { FileRef } from '../../delta/contents/stored-file.ts';
import { isBefore, type Mark } from '../disk/mark.ts';

/** How far the records of a tree are, and how far they are durable: a `TreeStore`. */
export interface Durability {
  readonly at: Mark;
  readonly durable: Mark | undefined;
  readonly root: { readonly generation: number };
}

/**
 * What the tree names no more, and after a loss of power may name again: it is freed when the records that freed it are
 * durable. There are two parts: one waits for a mark, the other one for the first.
 */
export class WaitingFrees {
  readonly #slabs: Slabs;
  readonly #remove: (file: FileRef) => void;
  readonly #journal: Durability;
  #files: FileRef[] = [];
  #covered: FileRef[] = [];
  #until: Mark | undefined;
  #seen: Mark | undefined;

  /** `remove`: frees a data file. Slots are deferred in the slabs. */
  constructor(slabs: Slabs, remove: (file: FileRef) => void, journal: Durability) {
    this.#slabs = slabs;
    this.#remove = remove;
    this.#journal = journal;
  }

  /** Data files that wait. */
  get files(): number {
    return this.#files.length + this.#covered.length;
  }

  addFile(file: FileRef): void {
    this.#files.push(file);
  }

  /** Frees what is to be freed. Cheap if nothing has become durable. */
  settle(): void {
    const { durable } = this.#journal;
    if (this.#until !== undefined && durable === this.#seen) return;
    this.#seen = durable;
    if (this.#until !== undefined) {
      if (durable === undefined || isBefore(durable, this.#until)) return;
      this.#until = undefined;
      this.#slabs.releaseCovered();
      for (const file of this.#covered) this.#remove(file);
      this.#covered = [];
    }
    if (this.#files.length === 0 && this.#slabs.deferredCount === 0) return;
    this.#slabs.coverDeferred();
    this.#covered = this.#files;
    this.#files = [];
    this.#until = this.#journal.at;
  }
}
