import type { ByteString } from '../../../byte-string.ts';
import { dividedIfLarge, type LargeMap } from './divided-map.ts';

/** How a table accesses inodes of the table that it extends. */
export interface Sharing<Entry> {
  /** Returns the table's own copy, which is made at the first use. */
  copy<E extends Entry>(shared: E): E;
  /** Returns the inode itself, possibly of a parent table; read-only. */
  look<E extends Entry>(shared: E): E;
}

/**
 * The entries of one directory. Entries of the parent table stay there: a directory of a hundred thousand names costs
 * an extending table only what it changes and uses.
 */
export class Entries<Entry extends object | null> {
  /** undefined: removed from those of the parent. */
  #own: LargeMap<ByteString, Entry | undefined> | undefined;
  readonly #below: Entries<Entry> | undefined;
  readonly #sharing: Sharing<Entry> | undefined;
  size = 0;
  /** Number of entries that are directories. */
  subdirs = 0;
  /** Upper limit of the longest path below the directory, in bytes; removals do not lower it. */
  reach = 0;

  /** Extends `below`, which must not change any more. */
  constructor(below?: Entries<Entry>, sharing?: Sharing<Entry>) {
    this.#below = below;
    this.#sharing = sharing;
    if (below === undefined) return;
    this.size = below.size;
    this.subdirs = below.subdirs;
    this.reach = below.reach;
  }

  /** Returns an entry, copied to this table if necessary. */
  get(name: ByteString): Entry | undefined {
    const own = this.#own?.get(name);
    if (own !== undefined || this.#below === undefined || this.#own?.has(name)) return own;
    const shared = this.#below.#look(name);
    return shared === undefined ? undefined : this.#sharing!.copy(shared);
  }

  /** Whether a name has an entry. */
  has(name: ByteString): boolean {
    return this.#look(name) !== undefined;
  }

  /** Returns the entry of this or the nearest parent directory that has the name. */
  #look(name: ByteString): Entry | undefined {
    for (let at: Entries<Entry> | undefined = this; at !== undefined; at = at.#below) {
      const entry = at.#own?.get(name);
      if (entry !== undefined || at.#own?.has(name)) return entry;
    }
    return undefined;
  }

  /** Sets an entry. Returns by how many names this directory's own map grew. */
  set(name: ByteString, entry: Entry): number {
    if (!this.has(name)) this.size++;
    return this.#put(name, entry);
  }

  /** Removes an entry. Returns by how many names this directory's own map grew. */
  delete(name: ByteString): number {
    if (!this.has(name)) return 0;
    this.size--;
    if (this.#below?.has(name)) return this.#put(name, undefined);
    this.#own!.delete(name);
    return -1;
  }

  #put(name: ByteString, entry: Entry | undefined): number {
    this.#own = dividedIfLarge(this.#own ?? new Map<ByteString, Entry | undefined>());
    const { size } = this.#own;
    return this.#own.set(name, entry).size - size;
  }

  /** All names. */
  keys(): IterableIterator<ByteString> {
    return this.#below === undefined ? (this.#own ?? new Map<ByteString, never>()).keys() : this.#names();
  }

  *#names(): Generator<ByteString> {
    for (const [name] of this.#looked()) yield name;
  }

  /** All entries, copied to this table. */
  *entries(): Generator<[ByteString, Entry]> {
    for (const [name, entry] of this.#looked()) yield [name, this.#sharing?.copy(entry) ?? entry];
  }

  /** All entries without copying them, possibly of parent tables; read-only. */
  *found(): Generator<[ByteString, Entry]> {
    for (const [name, entry] of this.#looked()) yield [name, this.#sharing?.look(entry) ?? entry];
  }

  *#looked(): Generator<[ByteString, Entry]> {
    const above: Entries<Entry>[] = [];
    for (let at: Entries<Entry> | undefined = this; at !== undefined; at = at.#below) above.push(at);
    for (let at = above.pop(); at !== undefined; at = above.pop()) {
      for (const [name, entry] of at.#own ?? []) {
        if (entry !== undefined && !above.some((each) => each.#own?.has(name))) yield [name, entry];
      }
    }
  }
}
