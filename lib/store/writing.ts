import { createHash, randomBytes } from 'node:crypto';
import type { Disk } from '../disk/disk.ts';
import { ServiceError } from '../errors.ts';
import type { Seed } from '../trees/directory/name-hash.ts';
import type { Sink } from '../trees/directory/source.ts';
import type { DirectoryObject } from '../trees/format/directory-object.ts';
import { hashKey, type Key } from '../trees/format/keys.ts';
import { BLOB_MODE, type NamedBlobs } from './blobs/blobs.ts';
import { ContentsWriter, type Stored } from './blobs/contents-writer.ts';
import { keyOfBytes } from './digest.ts';
import { MAX_PACKED } from './limits.ts';
import { quietly } from './packs/pack.ts';
import type { PackSet } from './packs/pack-set.ts';
import { RECORD, type RecordKind } from './packs/record.ts';
import { encodeVersion } from './versions/encode-version.ts';
import { parseVersion } from './versions/parse-version.ts';
import type { Version } from './versions/version.ts';

export type WritablePacks = Pick<PackSet, 'has' | 'append' | 'add' | 'sync'>;

/** What a writing needs of its store. */
export interface WritingPlace {
  readonly disk: Disk;
  readonly seed: Seed;
  readonly tmp: string;
  readonly packs: WritablePacks;
  readonly blobs: NamedBlobs;
  /** Changes whenever objects are lost that were not synced. */
  losses(): number;
  lost(keys: Iterable<Key>): void;
  used(key: Key): void;
  adopted(pack: string): void;
  ended(writing: Writing): void;
}

/**
 * Which small contents are not written again. A commit finds none: the time that it takes must not tell an agent whether the
 * codebase has a file with contents that it guessed.
 */
export type Finds = 'all' | 'no contents';

/** What a writing in another thread brings, after its `sync`. */
export interface Adoptable {
  readonly packs: readonly string[];
  /** Files in the folder of what is being written, by their contents. */
  readonly large: ReadonlyMap<Key, string>;
}

const CHUNK = 1024 * 1024;

/**
 * A group of objects that become durable together. Until `end`, garbage collection keeps what it put or found: so it ends when
 * the head of the codebase names its version, or when nobody will.
 */
export class Writing implements Sink {
  /** All that it put or found. */
  readonly keys = new Set<Key>();
  /** Packs of other writers that it brought. */
  readonly adopted = new Set<string>();
  readonly #place: WritingPlace;
  readonly #finds: Finds;
  readonly #losses: number;

  constructor(place: WritingPlace, finds: Finds) {
    this.#place = place;
    this.#finds = finds;
    this.#losses = place.losses();
  }

  get seed(): Seed {
    return this.#place.seed;
  }

  put(object: DirectoryObject): Key {
    return this.#put(RECORD.directory, object.bytes);
  }

  /** Throws a FormatError for a version that could not be read again. */
  putVersion(version: Version): Key {
    const bytes = encodeVersion(version);
    parseVersion(bytes);
    return this.#put(RECORD.version, bytes);
  }

  /** Of any size. The contents are taken as they are now. */
  putContents(bytes: Buffer): Key {
    if (bytes.length > 0 && bytes.length <= MAX_PACKED) return this.#put(RECORD.blob, bytes);
    const writer = this.contents();
    try {
      writer.write(bytes);
      return writer.end().key;
    } finally {
      writer.drop();
    }
  }

  /** For contents that come piece by piece. */
  contents(): ContentsWriter {
    const { disk, tmp, blobs } = this.#place;
    return new ContentsWriter({
      disk,
      tmp,
      blobs,
      packed: (bytes) => this.#put(RECORD.blob, bytes),
      published: (key) => this.#use(key),
    });
  }

  /**
   * The contents of a file that nobody will write to again: if they are large, the file gets a name in the store beside its
   * own, where its file system can do that.
   */
  putFile(path: string): Stored {
    const { disk } = this.#place;
    const fd = disk.open(path, 'read');
    try {
      return disk.size(fd) > MAX_PACKED ? this.#link(fd, path) : this.#copy(fd);
    } finally {
      disk.close(fd);
    }
  }

  /** What another writer has synced: packs that it sealed in the folder of packs, and files of large contents. It must not drop them. */
  adopt({ packs, large }: Adoptable): void {
    const place = this.#place;
    for (const name of packs) {
      this.adopted.add(name);
      place.packs.add(name);
      place.adopted(name);
    }
    try {
      for (const [key, path] of large) {
        place.blobs.publish(key, path);
        this.#use(key);
      }
    } catch (error) {
      for (const path of large.values()) quietly(() => place.disk.unlink(path));
      throw error;
    }
  }

  /** All that it put, found or adopted is durable. Else it throws, and is of no use any more. */
  sync(): void {
    const { packs, blobs, lost } = this.#place;
    packs.sync();
    blobs.sync(lost);
    if (this.#place.losses() !== this.#losses)
      throw new ServiceError('UNAVAILABLE', 'objects that were written at the same time were lost: write them again');
  }

  end(): void {
    this.#place.ended(this);
  }

  #put(kind: RecordKind, bytes: Buffer): Key {
    const { packs } = this.#place;
    const key = keyOfBytes(bytes);
    if (this.keys.has(key)) return key;
    const isSought = kind !== RECORD.blob || this.#finds === 'all';
    if (!isSought || !packs.has(key, bytes)) packs.append(kind, key, bytes);
    this.#use(key);
    return key;
  }

  #use(key: Key): void {
    this.keys.add(key);
    this.#place.used(key);
  }

  #copy(fd: number): Stored {
    const writer = this.contents();
    try {
      for (const chunk of this.#chunks(fd)) writer.write(chunk);
      return writer.end();
    } finally {
      writer.drop();
    }
  }

  #link(fd: number, path: string): Stored {
    const { disk, tmp, blobs } = this.#place;
    const hash = createHash('sha256');
    let size = 0;
    for (const chunk of this.#chunks(fd)) {
      hash.update(chunk);
      size += chunk.length;
    }
    const key = hashKey(hash.digest());
    const named = `${tmp}/${randomBytes(16).toString('hex')}`;
    try {
      disk.datasync(fd);
      disk.link(path, named);
      blobs.publish(key, named);
    } catch {
      // Another file system, too many names, or pages of the file that did not reach the disk: a copy has none of these.
      quietly(() => disk.unlink(named));
      return this.#copy(fd);
    }
    disk.chmod(fd, BLOB_MODE);
    this.#use(key);
    return { key, size };
  }

  *#chunks(fd: number): Generator<Buffer, void, void> {
    const chunk = Buffer.allocUnsafeSlow(CHUNK);
    for (let at = 0, read = CHUNK; read === CHUNK; at += read) {
      read = this.#place.disk.pread(fd, chunk, at);
      if (read > 0) yield chunk.subarray(0, read);
    }
  }
}
