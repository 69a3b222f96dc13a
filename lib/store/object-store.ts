import type { Disk } from '../disk/disk.ts';
import { errorCode } from '../linux/errno.ts';
import type { Seed } from '../trees/directory/name-hash.ts';
import type { Key } from '../trees/format/keys.ts';
import { Blobs } from './blobs/blobs.ts';
import { BulkWriting } from './bulk-writing.ts';
import { ObjectReads, type StoreParts } from './object-reads.ts';
import { type Pack, type PackInfo, quietly } from './packs/pack.ts';
import { PackSet } from './packs/pack-set.ts';
import { newSeed, readStoreFile, type StoreFile, writeStoreFile } from './store-file.ts';
import { type Finds, Writing } from './writing.ts';

/** What writings use, for a garbage collection that goes on meanwhile. */
export interface Uses {
  /** From now on, and of the writings that have begun. */
  readonly keys: ReadonlySet<Key>;
  readonly packs: ReadonlySet<string>;
  end(): void;
}

/**
 * The objects of one codebase: they never change, and each is under its SHA-256. Calls are synchronous, and all from one
 * thread. What a writing put can be read at once, and lasts from its `sync` on.
 */
export class ObjectStore extends ObjectReads {
  /** Keys of places in what belongs to the store have it. */
  readonly number: bigint;
  /** For all trees of the codebase, also in sandboxes. */
  readonly seed: Seed;
  readonly #folder: string;
  readonly #parts: StoreParts;
  readonly #packs: PackSet;
  readonly #blobs: Blobs;
  readonly #writings = new Set<Writing>();
  readonly #uses = new Set<{ keys: Set<Key>; packs: Set<string> }>();
  #losses = 0;

  private constructor(parts: StoreParts, folder: string, { number, seed }: StoreFile) {
    const place = { ...parts, folder: `${folder}/packs`, open: `${folder}/packs` };
    const packs = new PackSet(place, (keys) => this.#lost(keys));
    const blobs = new Blobs(parts.disk, `${folder}/blobs`);
    super(parts, packs, blobs);
    this.number = number;
    this.seed = seed;
    this.#parts = parts;
    this.#folder = folder;
    this.#packs = packs;
    this.#blobs = blobs;
  }

  /** A new store in a folder that may exist already. Its name in the folder above is the caller's to sync. */
  static create(parts: StoreParts, folder: string, number: bigint): ObjectStore {
    const { disk } = parts;
    for (const name of ['', '/packs', '/blobs', '/tmp']) makeFolder(disk, `${folder}${name}`);
    disk.syncFolder(folder);
    emptyFolder(disk, `${folder}/tmp`);
    writeStoreFile(disk, folder, `${folder}/tmp/store.json`, { number, seed: newSeed() });
    return ObjectStore.open(parts, folder);
  }

  /** Throws a FormatError for a folder that is no store of this format. */
  static open(parts: StoreParts, folder: string): ObjectStore {
    const store = new ObjectStore(parts, folder, readStoreFile(parts.disk, folder));
    // Names that `create` made, also in a process that was killed.
    parts.disk.syncFolder(folder);
    emptyFolder(parts.disk, store.#tmp);
    store.#packs.takeOver();
    return store;
  }

  begin(finds: Finds = 'all'): Writing {
    const writing = new Writing(
      {
        disk: this.#parts.disk,
        seed: this.seed,
        tmp: this.#tmp,
        packs: this.#packs,
        blobs: this.#blobs,
        losses: () => this.#losses,
        lost: (keys) => this.#lost(keys),
        used: (key) => {
          for (const { keys } of this.#uses) keys.add(key);
        },
        adopted: (pack) => {
          for (const { packs } of this.#uses) packs.add(pack);
        },
        ended: () => this.#writings.delete(writing),
      },
      finds,
    );
    this.#writings.add(writing);
    return writing;
  }

  /** For many objects, of which most are new: see there. */
  bulk(): BulkWriting {
    const { disk, sealAt } = this.#parts;
    return new BulkWriting(disk, this.#folder, sealAt);
  }

  uses(): Uses {
    const writings = [...this.#writings];
    const uses = {
      keys: new Set(writings.flatMap(({ keys }) => [...keys])),
      packs: new Set(writings.flatMap(({ adopted }) => [...adopted])),
      end: () => {
        this.#uses.delete(uses);
      },
    };
    this.#uses.add(uses);
    return uses;
  }

  /** Sealed ones first. */
  packs(): PackInfo[] {
    return this.#packs.packs;
  }

  pack(name: string): Pack | undefined {
    return this.#packs.pack(name);
  }

  /** Where an object is, by the indexes alone. */
  find(key: Key): { pack: string; offset: number; length: number } | undefined {
    const found = this.#packs.find(key);
    return found && { pack: found.pack.name, offset: found.record.offset, length: found.record.length };
  }

  blobs(): Iterable<Key> {
    return this.#blobs.keys();
  }

  /** Writings do not find what is in these any more, and store it anew; reads go on. */
  condemn(packs: Iterable<string>, blobs: Iterable<Key>): void {
    for (const name of packs) this.#packs.condemned.add(name);
    for (const key of blobs) this.#blobs.condemned.add(key);
  }

  /** Of these, what is still condemned is gone: a writing may have given a file of contents back meanwhile. */
  remove(packs: Iterable<string>, blobs: Iterable<Key>): void {
    for (const name of packs) if (this.#packs.condemned.has(name)) this.#packs.remove(name);
    for (const key of blobs) if (this.#blobs.condemned.has(key)) this.#blobs.remove(key);
  }

  /** Sealed packs that a look-up reads one by one: above 8 `mergeIndexes` pays. */
  get indexes(): number {
    return this.#packs.indexes;
  }

  mergeIndexes(): Generator<void, void, void> {
    return this.#packs.mergeIndexes(this.#tmp);
  }

  get #tmp(): string {
    return `${this.#folder}/tmp`;
  }

  #lost(keys: Iterable<Key>): void {
    this.#losses++;
    for (const key of keys) this.cache.delete(key);
  }
}

function makeFolder(disk: Disk, path: string): void {
  try {
    disk.mkdir(path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** What was being written when the last process ended is nobody's. */
function emptyFolder(disk: Disk, path: string): void {
  for (const name of disk.readdir(path)) quietly(() => disk.unlink(`${path}/${name}`));
}
