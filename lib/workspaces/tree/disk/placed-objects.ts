import { AbsentObject, type Source } from '../../../trees/directory/source.ts';
import type { DirectoryObject } from '../../../trees/format/directory-object.ts';
import { FormatError } from '../../../trees/format/format-error.ts';
import { type Key, placeOf } from '../../../trees/format/keys.ts';
import { parseObject } from '../../../trees/format/parse-object.ts';
import type { ObjectCache } from './object-cache.ts';
import type { SegmentReader } from './segment-reader.ts';

/** Directory objects of sandboxes' stores by their places. What is damaged is missing: this concerns no other object. */
export class PlacedObjects implements Source {
  readonly #cache: ObjectCache;
  readonly #stores: (store: bigint) => SegmentReader | undefined;

  /** `stores`: a workspace reads its own store, and those of the sandboxes that it was forked from. */
  constructor(cache: ObjectCache, stores: (store: bigint) => SegmentReader | undefined) {
    this.#cache = cache;
    this.#stores = stores;
  }

  load(key: Key): DirectoryObject {
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const object = this.#parsed(key);
    this.#cache.add(key, object);
    return object;
  }

  /** What `putBytes` has put. */
  bytes(key: Key): Buffer {
    const place = placeOf(key);
    const bytes = place && this.#stores(place.store)?.read(place);
    if (bytes === undefined) throw new AbsentObject(key, 'missing');
    return bytes;
  }

  #parsed(key: Key): DirectoryObject {
    try {
      return parseObject(this.bytes(key));
    } catch (error) {
      if (error instanceof FormatError) throw new AbsentObject(key, 'missing');
      throw error;
    }
  }
}
