import type { Disk } from '../disk/disk.ts';
import type { Source } from '../trees/directory/source.ts';
import type { DirectoryObject } from '../trees/format/directory-object.ts';
import { FormatError } from '../trees/format/format-error.ts';
import type { Key } from '../trees/format/keys.ts';
import type { BlobFiles } from './blobs/blob-files.ts';
import type { Cache, CachePart } from './cache.ts';
import { DamagedObject } from './damaged-object.ts';
import { keyOfBytes } from './digest.ts';
import { directoryOf } from './directory-of.ts';
import { MAX_PACKED, type SealAt } from './limits.ts';
import type { OpenFiles } from './open-files.ts';
import type { Packs } from './packs/packs.ts';
import { hexOf } from './packs/record.ts';
import { parseVersion } from './versions/parse-version.ts';
import type { Version } from './versions/version.ts';

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

/** The objects of one codebase, to be read: they never change, and each is under its SHA-256. Calls are synchronous. */
export abstract class ObjectReads implements Source {
  protected readonly cache: CachePart<Key, DirectoryObject>;
  readonly #disk: Disk;
  readonly #packs: Packs;
  readonly #blobs: BlobFiles;

  constructor({ disk, cache }: StoreParts, packs: Packs, blobs: BlobFiles) {
    this.cache = cache.part();
    this.#disk = disk;
    this.#packs = packs;
    this.#blobs = blobs;
  }

  load(key: Key): DirectoryObject {
    const cached = this.cache.get(key);
    if (cached !== undefined) return cached;
    const object = directoryOf(this.#packs.payload(key));
    this.cache.set(key, object, object.bytes.length);
    return object;
  }

  version(key: Key): Version {
    return parseVersion(this.#packs.payload(key));
  }

  /** Contents of so many bytes, by their entry. The record's header is checked, the payload is not read. */
  contents(key: Key, size: number): Contents {
    const fd = size > MAX_PACKED ? this.#blobs.open(key) : undefined;
    const contents =
      fd === undefined
        ? { ...this.#packs.where(key), own: false }
        : { fd, offset: 0, length: this.#disk.size(fd), own: true };
    // Fewer or more would be read as if they were its own.
    if (contents.length === size) return contents;
    if (fd !== undefined) this.#disk.close(fd);
    throw new FormatError(`the object ${hexOf(key)} has ${contents.length} bytes: ${size} in its entry`);
  }

  /** The file of contents that are larger than `MAX_PACKED`. */
  path(key: Key): string {
    return this.#blobs.path(key);
  }

  /** All bytes of contents; their digest is checked. */
  bytes(key: Key, size: number): Buffer {
    const fd = size > MAX_PACKED ? this.#blobs.open(key) : undefined;
    if (fd === undefined) return this.#packs.payload(key);
    const disk = this.#disk;
    try {
      const bytes = Buffer.allocUnsafeSlow(disk.size(fd));
      if (disk.pread(fd, bytes, 0) === bytes.length && keyOfBytes(bytes) === key) return bytes;
      throw new DamagedObject(key, { file: this.#blobs.path(key), offset: 0 });
    } finally {
      disk.close(fd);
    }
  }

  /** Holds no descriptor any more. What was not synced may be lost. */
  close(): void {
    this.cache.clear();
    this.#packs.close();
  }
}
