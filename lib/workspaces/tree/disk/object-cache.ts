import type { DirectoryObject } from '../../../trees/format/directory-object.ts';
import type { Key } from '../../../trees/format/keys.ts';

/** What an object takes besides its bytes. */
const OVERHEAD = 300;

/**
 * Objects that were used last, of all workspaces of a thread, up to a number of bytes. It has two halves: what is used moves
 * to the new one, and when that is full the old one goes. So a hit in the new half costs one look-up.
 */
export class ObjectCache {
  readonly #half: number;
  #new = new Map<Key, DirectoryObject>();
  #old = new Map<Key, DirectoryObject>();
  #bytes = 0;

  constructor(bytes: number) {
    this.#half = bytes / 2;
  }

  get(key: Key): DirectoryObject | undefined {
    const object = this.#new.get(key);
    if (object !== undefined) return object;
    const older = this.#old.get(key);
    if (older !== undefined) this.add(key, older);
    return older;
  }

  add(key: Key, object: DirectoryObject): void {
    if (this.#new.has(key)) return;
    const bytes = object.bytes.length + OVERHEAD;
    if (bytes > this.#half) return;
    if (this.#bytes + bytes > this.#half) {
      this.#old = this.#new;
      this.#new = new Map();
      this.#bytes = 0;
    }
    this.#new.set(key, object);
    this.#bytes += bytes;
  }

  delete(key: Key): void {
    const object = this.#new.get(key);
    if (object !== undefined) this.#bytes -= object.bytes.length + OVERHEAD;
    this.#new.delete(key);
    this.#old.delete(key);
  }
}
