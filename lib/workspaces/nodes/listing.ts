import type { ByteString } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { S_IFDIR } from '../../linux/mode.ts';
import { dividedIfLarge, type LargeMap } from '../delta/index/divided-map.ts';
import { type ListedName, ListedOrder } from './listed-order.ts';

/** Cookies 1 and 2 are "." and "..". */
const FIRST_COOKIE = 3;
/** Names given their cookies in one step. */
const ITEMS_PER_STEP = 64;

/**
 * The names of one directory, base and delta merged, hidden ones included. The cookie of a name is constant and larger
 * than those of all earlier names: a reader that continues from a cookie neither misses nor repeats a name that exists
 * throughout, also if the listing is replaced by a later one (`keepCookies`).
 */
export class Listing {
  #order = new ListedOrder();
  #byName: LargeMap<ByteString, ListedName> = new Map();
  #nextCookie: number;
  /** The directory may have other names by now. */
  isOutdated = false;
  /** Number of names that are directories. */
  subdirs = 0;
  /** The counter that includes this listing's names, while a node holds the listing. */
  #holder: { listedNames: number } | undefined;

  /** `former`: the listing that this one replaces; see `keepCookies`. */
  constructor(former?: Listing) {
    this.#nextCookie = former === undefined ? FIRST_COOKIE : former.#nextCookie;
  }

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

  /**
   * Gives the names that `former` has, too, their cookies there; all others have larger ones. Called once, after all names
   * were added. Neither listing is changed or used meanwhile.
   */
  *keepCookies(former: Listing): Steps<void, undefined> {
    const counter = new StepCounter(ITEMS_PER_STEP);
    const order = new ListedOrder();
    for (const { name, cookie } of former.values()) {
      const listed = this.#byName.get(name);
      if (listed !== undefined) {
        listed.cookie = cookie;
        order.push(listed);
      }
      if (counter.count()) yield;
    }
    for (const listed of this.values()) {
      if (listed.cookie >= former.#nextCookie) order.push(listed);
      if (counter.count()) yield;
    }
    this.#order = order;
  }

  /** The names after `cookie`, in order. The listing must not be changed during the iteration. */
  after(cookie: number): Generator<ListedName> {
    return this.#order.after(cookie);
  }
}
