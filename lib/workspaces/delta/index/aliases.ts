/**
 * The inodes that base files with several links were copied up to, by device and inode number of the base file. Only
 * ids are kept, so that a table and the tables that extend it agree.
 */
export class Aliases {
  readonly #parent: Aliases | undefined;
  /** Ids by key; undefined: removed from those of the parent. */
  readonly #ids = new Map<string, number | undefined>();

  /** Extends `below`, which must not change any more. */
  constructor(below?: Aliases) {
    this.#parent = below;
  }

  /** Returns the id of the inode that a base file was copied up to. */
  get(dev: number, ino: number): number | undefined {
    const key = keyOf(dev, ino);
    for (let at: Aliases | undefined = this; at !== undefined; at = at.#parent) {
      const id = at.#ids.size === 0 ? undefined : at.#ids.get(key);
      if (id !== undefined || at.#ids.has(key)) return id;
    }
    return undefined;
  }

  set(dev: number, ino: number, id: number): void {
    this.#ids.set(keyOf(dev, ino), id);
  }

  delete(dev: number, ino: number): void {
    if (this.#parent === undefined) this.#ids.delete(keyOf(dev, ino));
    else this.#ids.set(keyOf(dev, ino), undefined);
  }

  /** All base files with the ids of their inodes, parents included. */
  *entries(): Generator<{ dev: number; ino: number; id: number }> {
    for (const key of this.#keys()) {
      const [dev = 0, ino = 0] = key.split(':').map(Number);
      const id = this.get(dev, ino);
      if (id !== undefined) yield { dev, ino, id };
    }
  }

  #keys(): Set<string> {
    const keys = new Set<string>();
    for (let at: Aliases | undefined = this; at !== undefined; at = at.#parent) {
      for (const key of at.#ids.keys()) keys.add(key);
    }
    return keys;
  }
}

function keyOf(dev: number, ino: number): string {
  return `${dev}:${ino}`;
}
