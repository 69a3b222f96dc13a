import { createHash } from 'node:crypto';
import type { Seed } from '../../../lib/trees/directory/name-hash.ts';
import { AbsentObject, type Sink, type Source } from '../../../lib/trees/directory/source.ts';
import type { DirectoryObject } from '../../../lib/trees/format/directory-object.ts';
import { hashKey, type Key, placeKey } from '../../../lib/trees/format/keys.ts';
import { parseObject } from '../../../lib/trees/format/parse-object.ts';

export const SEED: Seed = [0x12345678, 0x9abcdef0];

/** Objects of a codebase and of one sandbox, in memory. Every object is parsed, as if it came from elsewhere. */
export class Memory implements Source {
  readonly objects = new Map<Key, DirectoryObject>();
  loads = 0;
  #offset = 0;

  /** Names objects by their hash, as the store of a codebase does. */
  readonly hashed: Sink = { seed: SEED, put: (object) => this.#keep(keyOfBytes(object.bytes), object) };

  /** Names objects by their place, as the store of a sandbox does: equal ones get different keys. */
  readonly placed: Sink = {
    seed: SEED,
    put: (object) => {
      const place = { store: 7n, segment: 1, offset: this.#offset, length: object.bytes.length, crc: 0 };
      this.#offset += object.bytes.length;
      return this.#keep(placeKey(place), object);
    },
  };

  load(key: Key): DirectoryObject {
    this.loads++;
    const object = this.objects.get(key);
    if (object === undefined) throw new AbsentObject(key, 'missing');
    return object;
  }

  #keep(key: Key, object: DirectoryObject): Key {
    if (!this.objects.has(key)) this.objects.set(key, parseObject(object.bytes));
    return key;
  }
}

export function keyOfBytes(bytes: Buffer | string): Key {
  return hashKey(createHash('sha256').update(bytes).digest());
}
