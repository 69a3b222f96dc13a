import { createHash } from 'node:crypto';
import type { Disk } from '../../disk/disk.ts';
import { DamagedObject } from '../../store/damaged-object.ts';
import { MAX_PACKED } from '../../store/limits.ts';
import type { Contents } from '../../store/object-reads.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { Entry } from '../../trees/format/entry.ts';
import { hashKey } from '../../trees/format/keys.ts';
import { withStore } from './store-error.ts';

/**
 * Reads the contents of a file. Their digest is checked: of small ones at once, of large ones with the last byte if they are read
 * in order.
 */
export class ContentsReader {
  readonly #disk: Disk;
  readonly #entry: Entry;
  readonly #hash = createHash('sha256');
  readonly #small: Buffer | undefined;
  readonly #large: Contents | undefined;
  /** By `read`. */
  #done = 0;
  #hashed = 0;
  #isClosed = false;

  /** The caller must call `close`. */
  constructor(store: ObjectStore, disk: Disk, entry: Entry) {
    this.#disk = disk;
    this.#entry = entry;
    if (entry.size === 0) this.#small = Buffer.alloc(0);
    else if (entry.size <= MAX_PACKED) this.#small = store.bytes(entry.key, entry.size);
    else this.#large = store.contents(entry.key, entry.size);
  }

  get left(): number {
    return this.#entry.size - this.#done;
  }

  /** The next bytes, up to so many. */
  read(most: number): Buffer {
    const from = this.#done;
    this.#done += Math.min(most, this.left);
    return this.at(from, this.#done - from);
  }

  /** So many bytes from an offset on; fewer at the end. */
  at(from: number, most: number): Buffer {
    const length = Math.min(most, this.#entry.size - from);
    return this.#small?.subarray(from, from + length) ?? withStore(() => this.#readLarge(from, length));
  }

  close(): void {
    if (this.#large?.own && !this.#isClosed) this.#disk.close(this.#large.fd);
    this.#isClosed = true;
  }

  #readLarge(from: number, length: number): Buffer {
    const { fd, offset } = this.#large!;
    // Not from Buffer's shared pool, which a consumer would keep alive as a whole with one small chunk.
    const bytes = Buffer.allocUnsafeSlow(length);
    const read = this.#disk.pread(fd, bytes, offset + from);
    const { key } = this.#entry;
    if (read < length || !this.#isRight(from, bytes)) throw new DamagedObject(key, undefined);
    return bytes;
  }

  /** As far as that is known: what was skipped is not hashed. */
  #isRight(from: number, bytes: Buffer): boolean {
    if (from !== this.#hashed || bytes.length === 0) return true;
    this.#hash.update(bytes);
    this.#hashed += bytes.length;
    return this.#hashed < this.#entry.size || hashKey(this.#hash.digest()) === this.#entry.key;
  }
}
