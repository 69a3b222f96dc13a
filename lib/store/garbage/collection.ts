import type { Disk } from '../../disk/disk.ts';
import { ServiceError } from '../../errors.ts';
import { AbsentObject } from '../../trees/directory/source.ts';
import type { Key } from '../../trees/format/keys.ts';
import { firstMissing } from '../check/check.ts';
import type { ObjectStore, Uses } from '../object-store.ts';
import { RECORD_HEADER } from '../packs/record.ts';
import { copyLive } from './copy-live.ts';
import { MARK, Marking } from './marking.ts';
import type { Roots } from './roots.ts';

/** What is to go: all that is needed of it has been copied. */
export interface Garbage {
  readonly packs: readonly string[];
  readonly blobs: readonly Key[];
  /** Bytes of these packs, and those that were written again for them. */
  readonly bytes: number;
  readonly copied: number;
}

/** A record that is looked at takes little; a step looks at so many. */
const RECORDS = 512;

/**
 * One garbage collection of a store. It marks what the roots name, and what writings have used since it began: that stays. Packs
 * without any such object go, and of those less than half full the objects are copied into others. All is done in steps, and
 * other calls of the store may come between them.
 *
 * The order: the copies are durable before `steps` ends. Then the owner lets readers in other threads forget the places, and calls
 * `remove`. A crash leaves objects twice or packs unneeded, and never one missing. If an object that should stay is missing,
 * `steps` throws, and nothing goes.
 */
export class Collection {
  readonly #store: ObjectStore;
  readonly #disk: Disk;
  /** Those that are marked, and those that are to be. */
  readonly #roots: Roots[] = [];
  readonly #waiting: Roots[];
  readonly #uses: Uses;
  readonly #marking: Marking;
  /** Packs that were sealed when it began. Others have what is new. */
  readonly #candidates: ReadonlySet<string>;
  #isDecided = false;

  /** `roots` is asked once, after the store notes what is used: so that a head that moves meanwhile is in one of both. Throws what it throws. */
  constructor(store: ObjectStore, disk: Disk, roots: () => Roots) {
    this.#store = store;
    this.#disk = disk;
    this.#uses = store.uses();
    try {
      this.#waiting = [roots()];
    } catch (error) {
      this.#uses.end();
      throw error;
    }
    this.#marking = new Marking(store);
    this.#candidates = new Set(store.packs().flatMap(({ name, sealed }) => (sealed ? name : [])));
  }

  /** More that must stay: a pin, or what a sandbox has come to name. false: it is too late, and some of it may go. */
  keep(roots: Roots): boolean {
    if (this.#isDecided) return false;
    this.#waiting.push(roots);
    return true;
  }

  *steps(): Generator<void, Garbage, void> {
    try {
      return yield* this.#collect();
    } finally {
      this.#uses.end();
    }
  }

  remove({ packs, blobs }: Garbage): void {
    this.#store.remove(packs, blobs);
  }

  *#collect(): Generator<void, Garbage, void> {
    const store = this.#store;
    let [packs, dead]: [string[], Key[]] = [[], []];
    // What came meanwhile is marked, and then counted, too.
    while (yield* this.#mark()) {
      packs = yield* this.#packsToGo();
      dead = yield* this.#blobsToGo();
      const { keys } = this.#marking;
      if (keys.count(MARK.live) !== keys.count(MARK.live | MARK.found)) throw yield* this.#refusal();
    }
    this.#isDecided = true;
    const blobs = dead.filter((key) => !this.#isLive(key));
    store.condemn(packs, blobs);
    const bytes = packs.reduce((sum, name) => sum + (store.pack(name)?.bytes ?? 0), 0);
    // Until now writings may have found what was garbage.
    const copied = yield* copyLive(store, packs, (key) => this.#isLive(key));
    return { packs, blobs, bytes, copied };
  }

  /** false: there was nothing more to mark. */
  *#mark(): Generator<void, boolean, void> {
    const roots = this.#waiting.splice(0);
    this.#roots.push(...roots);
    try {
      for (const each of roots) this.#marking.add(each);
      yield* this.#marking.steps();
    } catch (error) {
      throw error instanceof AbsentObject ? yield* this.#refusal() : error;
    }
    return roots.length > 0;
  }

  /** Of those that were sealed when it began: the ones less than half of which is live, or nothing. */
  *#packsToGo(): Generator<void, string[], void> {
    this.#marking.keys.clear(MARK.found);
    const go: string[] = [];
    // Sealed ones come first: an object that is in two packs counts in the one that is durable.
    for (const { name } of this.#store.packs()) {
      const pack = this.#store.pack(name);
      if (pack === undefined) continue;
      let [live, records] = [0, 0];
      for (const { key, length } of pack.records()) {
        if (this.#counts(key)) live += RECORD_HEADER + length;
        if (++records % RECORDS === 0) yield;
      }
      yield;
      if (this.#candidates.has(name) && !this.#uses.packs.has(name) && live * 2 < pack.bytes) go.push(name);
    }
    return go;
  }

  *#blobsToGo(): Generator<void, Key[], void> {
    const go: Key[] = [];
    let seen = 0;
    for (const key of this.#store.blobs()) {
      if (!this.#counts(key)) go.push(key);
      if (++seen % RECORDS === 0) yield;
    }
    return go;
  }

  /** Whether an object stays that is here, and was not found before. */
  #counts(key: Key): boolean {
    const { keys } = this.#marking;
    if ((keys.flags(key) & MARK.live) === 0) return this.#uses.keys.has(key);
    return (keys.add(key, MARK.found) & MARK.found) === 0;
  }

  #isLive(key: Key): boolean {
    return (this.#marking.keys.flags(key) & MARK.live) !== 0 || this.#uses.keys.has(key);
  }

  /** Names what is missing, and the way to it. */
  *#refusal(): Generator<void, ServiceError, void> {
    for (const roots of this.#roots) {
      const found = yield* firstMissing({ store: this.#store, disk: this.#disk, roots });
      if (found !== undefined) return new ServiceError('DATA_LOSS', `${found.message}; nothing was removed as garbage`);
    }
    return new ServiceError(
      'UNAVAILABLE',
      'an object could not be read, and can be read again; nothing was removed as garbage',
    );
  }
}
