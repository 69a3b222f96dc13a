import type { Source } from '../../trees/directory/source.ts';
import type { DirectoryObject } from '../../trees/format/directory-object.ts';
import { TYPE } from '../../trees/format/entry.ts';
import { type Key, KIND, kindOf, readKey } from '../../trees/format/keys.ts';
import { ENTRY_AT } from '../../trees/format/records.ts';
import { directoryOf } from '../directory-of.ts';
import type { ObjectStore } from '../object-store.ts';
import { treesIn } from '../versions/version.ts';
import { KeySet } from './key-set.ts';
import type { Roots } from './roots.ts';

/** Flags of keys. Contents may have the same bytes as a directory: that they are marked does not say that it was walked. */
export const MARK = { live: 1, walked: 2, found: 4 } as const;

/**
 * Finds all that roots name. Directories are read, past the cache, which holds what is in use; contents are known by their
 * keys. A directory that several trees share is read once.
 */
export class Marking {
  readonly keys: KeySet;
  readonly #store: ObjectStore;
  readonly #waiting: Key[] = [];
  /** Directories of sandboxes: those that were seen, and those that are to be walked, with where they are. */
  readonly #places = new Set<Key>();
  readonly #waitingPlaces: [key: Key, places: Source][] = [];

  constructor(store: ObjectStore) {
    this.#store = store;
    this.keys = new KeySet(store.packs().reduce((objects, pack) => objects + pack.objects, 0));
  }

  /** Throws if a version is missing or damaged. */
  add({ versions, directories, contents, places }: Roots): void {
    for (const { key } of versions) this.#version(key, places);
    for (const { key } of directories) this.#directory(key, places);
    for (const { key } of contents) if (kindOf(key) === KIND.hash) this.keys.add(key, MARK.live);
  }

  /** Each step reads one object. Throws if one is missing or damaged. */
  *steps(): Generator<void, void, void> {
    for (;;) {
      const key = this.#waiting.pop();
      const place = key === undefined ? this.#waitingPlaces.pop() : undefined;
      if (key !== undefined) this.#walk(directoryOf(this.#store.bytes(key, 0)));
      else if (place !== undefined) this.#walk(place[1].load(place[0]), place[1]);
      else return;
      yield;
    }
  }

  #version(key: Key, places: Source): void {
    const { root, commit } = this.#store.version(key);
    this.keys.add(key, MARK.live);
    this.#directory(root.key, places);
    // The sandbox that made it may still have to hear of it, and of the trees that it has since.
    for (const key of treesIn(commit)) this.#directory(key, places);
  }

  #directory(key: Key, places: Source): void {
    if (kindOf(key) === KIND.hash) {
      if ((this.keys.add(key, MARK.live | MARK.walked) & MARK.walked) === 0) this.#waiting.push(key);
    } else if (kindOf(key) === KIND.place && !this.#places.has(key)) {
      this.#places.add(key);
      this.#waitingPlaces.push([key, places]);
    }
  }

  /** `places`: of a directory of a sandbox. Those of the store name nothing there. */
  #walk(object: DirectoryObject, places?: Source): void {
    const { bytes, count, level } = object;
    for (let index = 0; index < count; index++) {
      const start = object.start(index);
      const at = level > 0 ? start + 1 + bytes[start]! : start + ENTRY_AT.key;
      const isDirectory = level > 0 || bytes[start] === TYPE.directory;
      const kind = bytes[at]!;
      if (kind === KIND.hash) {
        const had = this.keys.addAt(bytes, at + 1, isDirectory ? MARK.live | MARK.walked : MARK.live);
        if (isDirectory && (had & MARK.walked) === 0) this.#waiting.push(readKey(bytes, at));
      } else if (isDirectory && kind === KIND.place && places !== undefined) {
        this.#directory(readKey(bytes, at), places);
      }
    }
  }
}
