import type { Disk } from '../disk/disk.ts';
import { errorCode } from '../linux/errno.ts';
import type { Seed } from '../trees/directory/name-hash.ts';
import type { Source } from '../trees/directory/source.ts';
import type { DirectoryObject } from '../trees/format/directory-object.ts';
import { FormatError } from '../trees/format/format-error.ts';
import type { Key } from '../trees/format/keys.ts';
import { Blobs } from './blobs/blobs.ts';
import { BulkWriting } from './bulk-writing.ts';
import type { Cache, CachePart } from './cache.ts';
import { DamagedObject } from './damaged-object.ts';
import { keyOfBytes } from './digest.ts';
import { directoryOf } from './directory-of.ts';
import { MAX_PACKED, type SealAt } from './limits.ts';
import type { OpenFiles } from './open-files.ts';
import { type Pack, type PackInfo, quietly } from './packs/pack.ts';
import { PackSet } from './packs/pack-set.ts';
import { hexOf } from './packs/record.ts';
import { newSeed, readStoreFile, type StoreFile, writeStoreFile } from './store-file.ts';
import { parseVersion } from './versions/parse-version.ts';
import type { Version } from './versions/version.ts';
import { type Finds, Writing } from './writing.ts';

/** What the stores of a thread share. */
export interface StoreParts {
  readonly disk: Disk;
  readonly files: OpenFiles;
  readonly cache: Cache<Key, DirectoryObject>;
  readonly sealAt?: SealAt;
}

export interface Contents {
  readonly fd: number;
  readonly offset: number;
  readonly length: number;
  /** The caller closes the descriptor. Else it is valid until the next call of any store of the thread. */
  readonly own: boolean;
}

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
export class ObjectStore implements Source {
  /** Keys of places in what belongs to the store have it. */
  readonly number: bigint;
  /** For all trees of the codebase, also in sandboxes. */
  readonly seed: Seed;
  readonly #folder: string;
  readonly #parts: StoreParts;
  readonly #cache: CachePart<Key, DirectoryObject>;
  readonly #packs: PackSet;
  readonly #blobs: Blobs;
  readonly #writings = new Set<Writing>();
  readonly #uses = new Set<{ keys: Set<Key>; packs: Set<string> }>();
  #losses = 0;

  private constructor(parts: StoreParts, folder: string, { number, seed }: StoreFile) {
    this.number = number;
    this.seed = seed;
    this.#parts = parts;
    this.#folder = folder;
    this.#cache = parts.cache.part();
    this.#packs = new PackSet({ ...parts, folder: `${folder}/packs`, open: `${folder}/packs` }, (keys) =>
      this.#lost(keys),
    );
    this.#blobs = new Blobs(parts.disk, `${folder}/blobs`);
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
    store.#packs.open();
    return store;
  }

  load(key: Key): DirectoryObject {
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const object = directoryOf(this.#payload(key));
    this.#cache.set(key, object, object.bytes.length);
    return object;
  }

  version(key: Key): Version {
    return parseVersion(this.#payload(key));
  }

  /** Contents of so many bytes, by their entry. The record's header is checked, the payload is not read. */
  contents(key: Key, size: number): Contents {
    const fd = size > MAX_PACKED ? this.#blobs.open(key) : undefined;
    const contents =
      fd === undefined
        ? { ...this.#packs.place(key), own: false }
        : { fd, offset: 0, length: this.#parts.disk.size(fd), own: true };
    // Fewer or more would be read as if they were its own.
    if (contents.length === size) return contents;
    if (fd !== undefined) this.#parts.disk.close(fd);
    throw new FormatError(`the object ${hexOf(key)} has ${contents.length} bytes: ${size} in its entry`);
  }

  /** The file of contents that are larger than `MAX_PACKED`. */
  path(key: Key): string {
    return this.#blobs.path(key);
  }

  /** All bytes of contents; their digest is checked. */
  bytes(key: Key, size: number): Buffer {
    const fd = size > MAX_PACKED ? this.#blobs.open(key) : undefined;
    if (fd === undefined) return this.#payload(key);
    const { disk } = this.#parts;
    try {
      const bytes = Buffer.allocUnsafeSlow(disk.size(fd));
      if (disk.pread(fd, bytes, 0) === bytes.length && keyOfBytes(bytes) === key) return bytes;
      throw new DamagedObject(key, { file: this.#blobs.path(key), offset: 0 });
    } finally {
      disk.close(fd);
    }
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

  /** What was not synced may be lost. */
  close(): void {
    this.#cache.clear();
    this.#packs.close();
  }

  get #tmp(): string {
    return `${this.#folder}/tmp`;
  }

  #payload(key: Key): Buffer {
    return this.#packs.payload(key);
  }

  #lost(keys: Iterable<Key>): void {
    this.#losses++;
    for (const key of keys) this.#cache.delete(key);
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
