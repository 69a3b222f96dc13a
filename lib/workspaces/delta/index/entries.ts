import type { ByteString } from '../../../byte-string.ts';

/** How a table that goes on from another one has what lies in that. */
export interface Sharing<Entry> {
  /** Its own copy, made at the first use. */
  copy<E extends Entry>(shared: E): E;
  /** As it is, perhaps in a table below: only to be read. */
  look<E extends Entry>(shared: E): E;
}

/**
 * The names of one directory. Those that the directory had in a table below stay there: a directory of a hundred thousand
 * names costs each table that goes on from it what that changes and uses of it.
 */
export class Entries<Entry extends object | null> {
  /** undefined: taken away from those below. */
  #own: Map<ByteString, Entry | undefined> | undefined;
  readonly #below: Entries<Entry> | undefined;
  readonly #sharing: Sharing<Entry> | undefined;
  size = 0;
  /** How many of them are directories. */
  subdirs = 0;
  /** Bytes of the longest path below the directory, at most: names that were taken away may still count. */
  reach = 0;

  /** Goes on from `below`, which never changes from now on. */
  constructor(below?: Entries<Entry>, sharing?: Sharing<Entry>) {
    this.#below = below;
    this.#sharing = sharing;
    if (below === undefined) return;
    this.size = below.size;
    this.subdirs = below.subdirs;
    this.reach = below.reach;
  }

  get(name: ByteString): Entry | undefined {
    const own = this.#own?.get(name);
    if (own !== undefined || this.#below === undefined || this.#own?.has(name)) return own;
    const shared = this.#below.#look(name);
    return shared === undefined ? undefined : this.#sharing!.copy(shared);
  }

  has(name: ByteString): boolean {
    return this.#look(name) !== undefined;
  }

  /** As it is here or in the nearest table below that has the name. */
  #look(name: ByteString): Entry | undefined {
    for (let at: Entries<Entry> | undefined = this; at !== undefined; at = at.#below) {
      const entry = at.#own?.get(name);
      if (entry !== undefined || at.#own?.has(name)) return entry;
    }
    return undefined;
  }

  /** Returns how many names more are held here, besides those below. */
  set(name: ByteString, entry: Entry): number {
    if (!this.has(name)) this.size++;
    return this.#put(name, entry);
  }

  /** As `set`. */
  delete(name: ByteString): number {
    if (!this.has(name)) return 0;
    this.size--;
    if (this.#below?.has(name)) return this.#put(name, undefined);
    this.#own!.delete(name);
    return -1;
  }

  #put(name: ByteString, entry: Entry | undefined): number {
    this.#own ??= new Map();
    const { size } = this.#own;
    return this.#own.set(name, entry).size - size;
  }

  keys(): IterableIterator<ByteString> {
    return this.#below === undefined ? (this.#own ?? new Map<ByteString, never>()).keys() : this.#names();
  }

  *#names(): Generator<ByteString> {
    for (const [name] of this.#looked()) yield name;
  }

  *entries(): Generator<[ByteString, Entry]> {
    for (const [name, entry] of this.#looked()) yield [name, this.#sharing?.copy(entry) ?? entry];
  }

  /** As `entries`, each as it is, perhaps in a table below: only to be read. */
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
