import type { Disk } from '../../disk/disk.ts';
import type { Key } from '../../trees/format/keys.ts';
import { sha256 } from '../digest.ts';
import {
  compareAt,
  FAN_OUT,
  FAN_OUT_BYTES,
  firstRow,
  ROW_BYTES,
  readRow,
  readTrailer,
  TRAILER_BYTES,
  type Trailer,
} from './index-rows.ts';
import { type PackPlace, sealedPath } from './open-pack.ts';
import { ifReadable, type Pack } from './pack.ts';
import { PACK_HEADER, type Packed, RECORD_HEADER, seedOf } from './record.ts';
import { scan } from './scan.ts';

/**
 * A pack that is never written again. Its index is read from the disk, one part of 256 a look-up; nothing is believed that
 * it says, because the record has its own digest. A damaged index is replaced in memory by what a scan finds.
 */
export class SealedPack implements Pack {
  readonly name: string;
  readonly seed: number;
  readonly sealed = true;
  readonly #place: PackPlace;
  #read: { readonly size: number; readonly trailer: Trailer | undefined; readonly fanOut: Buffer } | undefined;
  /** In place of the index: by key. */
  #scanned: Map<Key, Packed> | undefined;
  #isVerified = false;

  constructor(place: PackPlace, name: string) {
    this.#place = place;
    this.name = name;
    this.seed = seedOf(name);
  }

  get objects(): number {
    return this.#scanned?.size ?? this.#ends.trailer?.rows ?? this.#scan().size;
  }

  get bytes(): number {
    return this.#ends.trailer?.place ?? this.#ends.size;
  }

  find(key: Key): Packed | undefined {
    if (this.#ends.trailer === undefined || this.#scanned !== undefined) return this.#scan().get(key);
    const rows = this.rows(key.charCodeAt(1));
    const row = firstRow(rows, ROW_BYTES, key);
    if ((row + 1) * ROW_BYTES > rows.length || compareAt(rows, row * ROW_BYTES, key) !== 0) return undefined;
    return this.inside(readRow(rows, row));
  }

  *records(): Generator<Packed, void, void> {
    if (!this.verify()) {
      yield* this.#scan().values();
      return;
    }
    for (let byte = 0; byte < FAN_OUT; byte++) {
      const rows = this.rows(byte);
      for (let row = 0; row * ROW_BYTES < rows.length; row++) {
        const record = this.inside(readRow(rows, row));
        if (record !== undefined) yield record;
      }
    }
  }

  /** The rows of the index whose digests begin with this byte. */
  rows(byte: number): Buffer {
    const { trailer, fanOut } = this.#ends;
    const { place, rows } = trailer!;
    const from = byte === 0 ? 0 : fanOut.readUInt32LE((byte - 1) * 4);
    const to = Math.min(rows, fanOut.readUInt32LE(byte * 4));
    const bytes = Buffer.allocUnsafe(Math.max(0, to - from) * ROW_BYTES);
    const read = this.#disk.pread(this.#fd(), bytes, place + FAN_OUT_BYTES + from * ROW_BYTES);
    return bytes.subarray(0, read - (read % ROW_BYTES));
  }

  /** Whether the index is whole. If not, it is replaced: look-ups may find what they did not find before. */
  verify(): boolean {
    if (!this.#isVerified) {
      const isWhole = ifReadable(() => this.#isIndexWhole());
      // What cannot be read now may be read later.
      if (isWhole === undefined) return false;
      this.#isVerified = true;
      if (!isWhole) this.#scan();
    }
    return this.#scanned === undefined;
  }

  read(record: Packed): Buffer {
    const bytes = Buffer.allocUnsafeSlow(RECORD_HEADER + record.length);
    return bytes.subarray(0, this.#disk.pread(this.#fd(), bytes, record.offset - RECORD_HEADER));
  }

  fd(): number {
    return this.#fd();
  }

  close(): void {
    this.#place.files.forget(this.#path);
  }

  remove(): void {
    this.close();
    this.#disk.unlink(this.#path);
  }

  /** Read first when it is needed: a store has packs that a thread never looks at. */
  get #ends(): { readonly size: number; readonly trailer: Trailer | undefined; readonly fanOut: Buffer } {
    if (this.#read !== undefined) return this.#read;
    const disk = this.#disk;
    const fd = this.#fd();
    const size = disk.size(fd);
    const fanOut = Buffer.alloc(FAN_OUT_BYTES);
    const trailer = ifReadable(() => {
      const bytes = Buffer.alloc(Math.min(size, TRAILER_BYTES));
      disk.pread(fd, bytes, size - bytes.length);
      const found = readTrailer(bytes, size);
      if (found !== undefined) disk.pread(fd, fanOut, found.place);
      return found;
    });
    this.#read = { size, trailer, fanOut };
    return this.#read;
  }

  get #disk(): Disk {
    return this.#place.disk;
  }

  get #path(): string {
    return sealedPath(this.#place.folder, this.name);
  }

  #fd(): number {
    return this.#place.files.fd(this.#path);
  }

  #isIndexWhole(): boolean {
    const { trailer } = this.#ends;
    if (trailer === undefined) return false;
    const { place, rows, digest } = trailer;
    const bytes = Buffer.allocUnsafeSlow(FAN_OUT_BYTES + rows * ROW_BYTES);
    return this.#disk.pread(this.#fd(), bytes, place) === bytes.length && sha256(bytes).equals(digest);
  }

  #scan(): Map<Key, Packed> {
    if (this.#scanned === undefined) {
      const found = new Map<Key, Packed>();
      // What cannot be read is not found.
      ifReadable(() => {
        for (const record of scan(this.#disk, this.#fd(), this.seed)) found.set(record.key, record);
      });
      this.#scanned = found;
    }
    return this.#scanned;
  }

  /** No row of an index leads out of the file. */
  inside(record: Packed | undefined): Packed | undefined {
    if (record === undefined) return undefined;
    const { offset, length } = record;
    return offset >= PACK_HEADER + RECORD_HEADER && offset + length <= this.#ends.size ? record : undefined;
  }
}
