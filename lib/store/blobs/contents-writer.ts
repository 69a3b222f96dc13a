import { createHash, type Hash, randomBytes } from 'node:crypto';
import type { Disk } from '../../disk/disk.ts';
import { hashKey, type Key, NO_KEY } from '../../trees/format/keys.ts';
import { MAX_PACKED } from '../limits.ts';
import { quietly } from '../packs/pack.ts';
import { BLOB_MODE, type NamedBlobs } from './blobs.ts';

interface LargeFile {
  readonly fd: number;
  readonly path: string;
  readonly hash: Hash;
}

export interface Stored {
  readonly key: Key;
  readonly size: number;
}

export interface ContentsPlace {
  readonly disk: Disk;
  /** The folder of what is being written. */
  readonly tmp: string;
  readonly blobs: NamedBlobs;
  /** Takes contents that are not large. */
  packed(bytes: Buffer): Key;
  /** Is told the key of contents that are a file. */
  published(key: Key): void;
}

/** Contents that come piece by piece. Small ones go to a pack; larger ones to a file, which gets its name when it is synced. */
export class ContentsWriter {
  readonly #place: ContentsPlace;
  #size = 0;
  /** Until it is known that they are large. */
  #small: Buffer[] = [];
  #large: LargeFile | undefined;

  constructor(place: ContentsPlace) {
    this.#place = place;
  }

  /** The bytes may be changed afterwards. After an error nothing is left but `drop`. */
  write(bytes: Uint8Array): void {
    if (this.#large === undefined && this.#size + bytes.length <= MAX_PACKED) {
      this.#small.push(Buffer.from(bytes));
      this.#size += bytes.length;
      return;
    }
    this.#large ??= this.#begin();
    this.#append(bytes);
  }

  end(): Stored {
    const size = this.#size;
    if (size === 0) return { key: NO_KEY, size };
    if (this.#large === undefined) return { key: this.#place.packed(Buffer.concat(this.#small)), size };
    const { fd, path, hash } = this.#large;
    this.#place.disk.datasync(fd);
    const key = hashKey(hash.digest());
    this.#place.blobs.publish(key, path);
    this.#large = undefined;
    this.#place.disk.close(fd);
    this.#place.published(key);
    return { key, size };
  }

  /** Nothing is left of it. Without effect after `end`. */
  drop(): void {
    const large = this.#large;
    this.#large = undefined;
    if (large === undefined) return;
    quietly(() => this.#place.disk.close(large.fd));
    quietly(() => this.#place.disk.unlink(large.path));
  }

  #begin(): LargeFile {
    const path = `${this.#place.tmp}/${randomBytes(16).toString('hex')}`;
    this.#large = { fd: this.#place.disk.open(path, 'create', BLOB_MODE), path, hash: createHash('sha256') };
    const small = Buffer.concat(this.#small);
    this.#small = [];
    this.#size = 0;
    this.#append(small);
    return this.#large;
  }

  #append(bytes: Uint8Array): void {
    const { fd, hash } = this.#large!;
    this.#place.disk.pwrite(fd, bytes, this.#size);
    hash.update(bytes);
    this.#size += bytes.length;
  }
}
