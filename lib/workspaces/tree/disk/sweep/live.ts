import type { Source } from '../../../../trees/directory/source.ts';
import type { DirectoryObject } from '../../../../trees/format/directory-object.ts';
import { fileOf, type Key, KIND, kindOf, placeOf, readKey, slotOf } from '../../../../trees/format/keys.ts';
import { Bits } from '../../../delta/contents/bits.ts';
import { localKeysIn, storeBytes } from './local-keys.ts';

/**
 * What of one store some trees name. Only objects of this store are read: one of another store, of a codebase or of a fork,
 * names nothing here that the root does not name from which the fork was made.
 */
export class Live {
  readonly #source: Source;
  readonly #store: bigint;
  readonly #storeBytes: Buffer;
  readonly #objects = new Set<Key>();
  /** Bytes of live objects, by segment. */
  readonly segments = new Map<number, number>();
  /** Slots, by the class of their slab. */
  readonly slots = new Map<number, Bits>();
  /** Numbers of data files. */
  readonly files = new Set<number>();

  constructor(source: Source, store: bigint) {
    this.#source = source;
    this.#store = store;
    this.#storeBytes = storeBytes(store);
  }

  /**
   * Adds all that a key names, and what is in it. Yields after each object, so that the caller can take turns. Throws
   * AbsentObject: what the object named is unknown then, and nothing may be freed.
   */
  *adding(key: Key): Generator<void, void, void> {
    const unread: Key[] = [];
    this.#add(key, unread);
    for (let next = unread.pop(); next !== undefined; next = unread.pop()) {
      this.#addAll(this.#source.load(next), unread);
      yield;
    }
  }

  /** Bytes that only the owner reads: the map of its slabs. */
  addBytes(key: Key): void {
    this.#addPlace(key);
  }

  #addAll(object: DirectoryObject, unread: Key[]): void {
    for (const at of localKeysIn(object, this.#storeBytes)) this.#add(readKey(object.bytes, at), unread);
  }

  #add(key: Key, unread: Key[]): void {
    if (kindOf(key) === KIND.place) {
      if (this.#addPlace(key)) unread.push(key);
      return;
    }
    const slot = slotOf(key);
    if (slot?.store === this.#store) this.#slotsOf(slot.class).add(slot.slot);
    const file = fileOf(key);
    if (file?.store === this.#store) this.files.add(file.number);
  }

  /** Whether it is one of this store that was not known. */
  #addPlace(key: Key): boolean {
    const place = placeOf(key);
    if (place?.store !== this.#store || this.#objects.has(key)) return false;
    this.#objects.add(key);
    this.segments.set(place.segment, (this.segments.get(place.segment) ?? 0) + place.length);
    return true;
  }

  #slotsOf(size: number): Bits {
    let slots = this.slots.get(size);
    if (slots === undefined) {
      slots = new Bits();
      this.slots.set(size, slots);
    }
    return slots;
  }
}
