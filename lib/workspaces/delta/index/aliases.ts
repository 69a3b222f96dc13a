import { dividedIfLarge, type LargeMap } from './divided-map.ts';

/**
 * The inodes that base files with several links were copied up to, by device and inode number of the base file. Only
 * ids are kept, so that a table and the tables that extend it agree.
 */
export class Aliases {
  readonly #parent: Aliases | undefined;
  /** Ids by key; undefined: removed from those of the parent. */
  #ids: LargeMap<string, number | undefined> = new Map();

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
    this.#put(keyOf(dev, ino), id);
  }

  delete(dev: number, ino: number): void {
    if (this.#parent === undefined) this.#ids.delete(keyOf(dev, ino));
    else this.#put(keyOf(dev, ino), undefined);
  }

  #put(key: string, id: number | undefined): void {
    this.#ids = dividedIfLarge(this.#ids);
    this.#ids.set(key, id);
  }

  /** All base files with the ids of their inodes, parents included. */
  *entries(): Generator<{ dev: number; ino: number; id: number }> {
    for (const key of this.#keys()) {
      const [dev = 0, ino = 0] = key.split(':').map(Number);
      const id = this.get(dev, ino);
      if (id !== undefined) yield { dev, ino, id };
    }
  }

  *#keys(): Generator<string> {
    const above: Aliases[] = [];
    for (let at: Aliases | undefined = this; at !== undefined; at = at.#parent) {
      for (const key of at.#ids.keys()) if (!above.some((each) => each.#ids.has(key))) yield key;
      above.push(at);
    }
  }
}

function keyOf(dev: number, ino: number): string {
  return `${dev}:${ino}`;
}
