import type { Seed } from '../../trees/directory/name-hash.ts';
import type { Sink, Source } from '../../trees/directory/source.ts';
import type { DirectoryObject } from '../../trees/format/directory-object.ts';
import { type Key, placeKey } from '../../trees/format/keys.ts';

/** Objects in memory above others, for trees of which nothing is kept. */
export class Overlay implements Source, Sink {
  readonly seed: Seed;
  readonly #below: Source;
  readonly #put = new Map<Key, DirectoryObject>();

  constructor(below: Source, seed: Seed) {
    this.seed = seed;
    this.#below = below;
  }

  load(key: Key): DirectoryObject {
    return this.#put.get(key) ?? this.#below.load(key);
  }

  put(object: DirectoryObject): Key {
    // No store has the number 0.
    const key = placeKey({ store: 0n, segment: 0, offset: this.#put.size, length: object.bytes.length, crc: 0 });
    this.#put.set(key, object);
    return key;
  }
}
