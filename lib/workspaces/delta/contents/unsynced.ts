import type { DataRef, StoredFile } from './stored-file.ts';

/** Superfluous entries of the list that are always tolerated. */
const SPARE = 64;

/**
 * The files whose contents may not be durable. Each is marked in its inode, which needs no memory, and is in a list,
 * which needs a third of that of a set.
 */
export class Unsynced {
  /** Each inode at most once; some were removed since. */
  #list: StoredFile[] = [];
  /** Those that were removed. */
  #superfluous = 0;
  /** Layers that were frozen, and their data files. */
  readonly #layers: string[] = [];
  readonly #frozen: DataRef[] = [];

  has(inode: StoredFile): boolean {
    return inode.unsynced;
  }

  /** Adds a file, unless it was added before. */
  add(inode: StoredFile): void {
    if (inode.unsynced) return;
    inode.unsynced = true;
    if (inode.listed) this.#superfluous--;
    else {
      inode.listed = true;
      this.#list.push(inode);
    }
  }

  /** Removes a file that was synced, or whose inode was removed. */
  delete(inode: StoredFile): void {
    if (!inode.unsynced) return;
    inode.unsynced = false;
    this.#superfluous++;
    if (this.#superfluous > SPARE + this.#list.length / 2) this.#shorten();
  }

  #shorten(): void {
    for (const inode of this.#list) inode.listed = inode.unsynced;
    this.#list = this.#list.filter((inode) => inode.listed);
    this.#superfluous = 0;
  }

  /** Removes all files and layers. */
  clear(): void {
    this.#clearList();
    this.#layers.length = 0;
    this.#frozen.length = 0;
  }

  /** Adds a layer that is frozen with all files so far: their inodes are those of a frozen table from now on. */
  freeze(layer: string): void {
    this.#layers.push(layer);
    for (const ref of this.dataFiles()) this.#frozen.push(ref);
    this.#clearList();
  }

  #clearList(): void {
    for (const inode of this.#list) inode.unsynced = inode.listed = false;
    this.#list = [];
    this.#superfluous = 0;
  }

  /** Frozen layers whose slabs may not be durable. */
  get layers(): readonly string[] {
    return this.#layers;
  }

  /** Data files of frozen layers that may not be durable. */
  get frozenFiles(): readonly DataRef[] {
    return this.#frozen;
  }

  /** The data files of the added files. */
  dataFiles(): DataRef[] {
    const refs: DataRef[] = [];
    for (const inode of this.#list) if (inode.unsynced && inode.hasFile) refs.push(inode.requireData());
    return refs;
  }
}
