import { type ByteString, fromLatin1 } from '../../../../../../lib/byte-string.ts';
import { entriesOf } from '../../../../../../lib/trees/directory/entries.ts';
import { patchDirectory } from '../../../../../../lib/trees/directory/patch-directory.ts';
import { AbsentObject, type Source } from '../../../../../../lib/trees/directory/source.ts';
import type { DirectoryObject } from '../../../../../../lib/trees/format/directory-object.ts';
import { type Entry, isDirectory } from '../../../../../../lib/trees/format/entry.ts';
import {
  fileKey,
  fileOf,
  type Key,
  KIND,
  kindOf,
  NO_KEY,
  placeKey,
  placeOf,
  slotKey,
  slotOf,
} from '../../../../../../lib/trees/format/keys.ts';
import { keyOfBytes, SEED } from '../../../../trees/memory.ts';
import { directoryEntry, fileEntry, type Random } from '../../../../trees/random.ts';

export const OWN = 7n;
const PARENT = 8n;

/** What a tree names of the own store, as texts. */
export type Names = ReadonlySet<string>;

/** Trees that share parts: of a sandbox's own store, of that of the sandbox it was forked from, and of a codebase. */
export class World implements Source {
  readonly #random: Random;
  readonly #objects = new Map<Key, DirectoryObject>();
  #put = 0;
  #contents = 0;
  /** Bytes of each segment of the own store. */
  readonly sizes = new Map<number, number>();

  constructor(random: Random) {
    this.#random = random;
  }

  load(key: Key): DirectoryObject {
    const object = this.#objects.get(key);
    if (object === undefined) throw new AbsentObject(key, 'missing');
    return object;
  }

  /** Slots and files are numbered on. */
  get contents(): number {
    return this.#contents;
  }

  /** The tree with a name changed somewhere. */
  changed(directory: Entry, depth = 0): Entry {
    const entries = [...entriesOf(this, directory.key)];
    const below = entries.filter(isDirectory);
    const name = fromLatin1(`n${this.#random(depth === 0 ? 700 : 9)}`);
    if (depth < 3 && below.length > 0 && this.#random(3) > 0) {
      const child = below[this.#random(below.length)]!;
      return this.#patched(directory, child.name, this.changed(child, depth + 1), depth);
    }
    const choice = this.#random(4);
    if (choice === 0) return this.#patched(directory, name, undefined, depth);
    if (choice === 1 && depth < 3) {
      const made = this.#patched(directoryEntry(name), fromLatin1('f'), this.#file(fromLatin1('f')), depth + 1);
      return this.#patched(directory, name, made, depth);
    }
    return this.#patched(directory, name, this.#file(name), depth);
  }

  /** A tree with many names, which has several objects. */
  wide(): Entry {
    const names = Array.from({ length: 700 }, (_, n) => fromLatin1(`n${n}`)).sort((a, b) => (a < b ? -1 : 1));
    const changes = names.map((name) => [name, this.#file(name)] as const);
    return { ...directoryEntry('w'), ...patchDirectory(this, this.#sink(OWN), NO_KEY, changes) };
  }

  #patched(directory: Entry, name: ByteString, entry: Entry | undefined, depth: number): Entry {
    // What a fork has of its parent, or what a commit made the codebase's, has nothing of the own store in it.
    const isOwn =
      depth < 2 || this.#random(4) > 0 || this.namesOf(directory.key).size > 0 || (entry && this.#isOwn(entry));
    const sink = this.#sink(isOwn ? OWN : this.#random(2) ? PARENT : undefined);
    return { ...directory, ...patchDirectory(this, sink, directory.key, [[name, entry]]) };
  }

  #isOwn(entry: Entry): boolean {
    return isDirectory(entry) ? this.namesOf(entry.key).size > 0 : contentsOf(entry.key) !== undefined;
  }

  #sink(store: bigint | undefined) {
    return {
      seed: SEED,
      put: (object: DirectoryObject): Key => {
        const length = object.bytes.length;
        const segment = 1 + Math.floor(this.#put++ / 5);
        const key =
          store === undefined
            ? keyOfBytes(object.bytes)
            : placeKey({ store, segment, offset: this.#put, length, crc: 0 });
        if (store === OWN) this.sizes.set(segment, (this.sizes.get(segment) ?? 0) + length);
        this.#objects.set(key, object);
        return key;
      },
    };
  }

  #file(name: ByteString): Entry {
    const n = ++this.#contents;
    const store = this.#random(4) === 0 ? PARENT : OWN;
    const keys = [
      () => slotKey({ store, class: n % 3, slot: n, sequence: n, birth: 1, crc: 0 }),
      () => fileKey({ store, number: n, birth: 1, version: 0 }),
      () => keyOfBytes(String(n)),
    ];
    return { ...fileEntry('', 'x'), name, key: keys[this.#random(3)]!() };
  }

  /** All that is named below a key, found by decoding everything. */
  namesOf(key: Key): Names {
    const names = new Set<string>();
    this.#collect(key, names);
    return names;
  }

  #collect(key: Key, names: Set<string>): void {
    if (kindOf(key) === KIND.none) return;
    const place = placeOf(key);
    if (place?.store === OWN) names.add(`segment ${place.segment}`);
    const object = this.load(key);
    for (let index = 0; index < object.count; index++) {
      const record = object.record(index);
      if (object.level > 0 || isDirectory(record as Entry)) this.#collect(record.key, names);
      else {
        const contents = contentsOf(record.key);
        if (contents !== undefined) names.add(contents);
      }
    }
  }
}

/** Of contents in the own store. */
export function contentsOf(key: Key): string | undefined {
  const slot = slotOf(key);
  if (slot?.store === OWN) return `slot ${slot.class} ${slot.slot}`;
  const file = fileOf(key);
  return file?.store === OWN ? `file ${file.number}` : undefined;
}
