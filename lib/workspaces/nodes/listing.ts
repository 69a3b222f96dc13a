import type { ByteString } from '../../byte-string.ts';
import { S_IFDIR } from '../../linux/mode.ts';
import { dividedIfLarge, type LargeMap } from '../delta/index/divided-map.ts';
import { type ListedName, ListedOrder } from './listed-order.ts';

/** Cookies 1 and 2 are "." and "..". */
const FIRST_COOKIE = 3;

/**
 * The names of one directory, base and delta merged, hidden ones included. The cookie of a name is constant and larger
 * than those of all earlier names: a reader that continues from a cookie neither misses nor repeats a name that exists
 * throughout.
 */
export class Listing {
  readonly #order = new ListedOrder();
  #byName: LargeMap<ByteString, ListedName> = new Map();
  #nextCookie = FIRST_COOKIE;
  /** Number of names that are directories. */
  subdirs = 0;
  /** The counter that includes this listing's names, while a node holds the listing. */
  #holder: { listedNames: number } | undefined;

  /** Counts the names for the memory of `holder`; undefined: no node holds the listing any more. */
  countFor(holder: { listedNames: number } | undefined): void {
    if (this.#holder !== undefined) this.#holder.listedNames -= this.size;
    if (holder !== undefined) holder.listedNames += this.size;
    this.#holder = holder;
  }

  /** Number of names. */
  get size(): number {
    return this.#byName.size;
  }

  /** Returns a name, or undefined if it is not listed. */
  get(name: ByteString): ListedName | undefined {
    return this.#byName.get(name);
  }

  /** All names with their types and cookies. The listing must not be changed during the iteration. */
  values(): Generator<ListedName> {
    return this.#order.after(0);
  }

  /** All names. */
  names(): IterableIterator<ByteString> {
    return this.#byName.keys();
  }

  /** Adds a name, or changes the type (S_IFMT bits) of an existing one. */
  add(name: ByteString, type: number): void {
    const known = this.#byName.get(name);
    if (type === S_IFDIR) this.subdirs++;
    if (known !== undefined) {
      if (known.type === S_IFDIR) this.subdirs--;
      known.type = type;
      return;
    }
    const listed = { name, cookie: this.#nextCookie++, type, gone: false };
    this.#order.push(listed);
    if (this.#holder !== undefined) this.#holder.listedNames++;
    this.#byName = dividedIfLarge(this.#byName).set(name, listed);
  }

  /** Removes a name; does nothing if it is not listed. */
  remove(name: ByteString): void {
    const listed = this.#byName.get(name);
    if (listed === undefined) return;
    listed.gone = true;
    if (listed.type === S_IFDIR) this.subdirs--;
    this.#byName.delete(name);
    if (this.#holder !== undefined) this.#holder.listedNames--;
    this.#order.gone(listed);
  }

  /** The names after `cookie`, in order. The listing must not be changed during the iteration. */
  after(cookie: number): Generator<ListedName> {
    return this.#order.after(cookie);
  }
}
