import type { Disk } from '../../disk/disk.ts';
import { keyOfBytes } from '../digest.ts';
import { PACK_HEADER, type Packed, RECORD_HEADER, RECORD_MAGIC, readRecord } from './record.ts';

const WINDOW = 1024 * 1024;

/**
 * The records of a pack whose digests match, in their order. Behind a damaged one the next is looked for byte by byte: what
 * one flipped bit costs is one object.
 */
export function* scan(disk: Disk, fd: number, seed: number): Generator<Packed, void, void> {
  const window = new Window(disk, fd);
  let at: number = PACK_HEADER;
  while (at + RECORD_HEADER <= window.size) {
    const record = readRecord(window.at(at, RECORD_HEADER), 0, seed);
    const offset = at + RECORD_HEADER;
    if (record === undefined || offset + record.length > window.size) {
      at = window.next(RECORD_MAGIC, at + 1);
      continue;
    }
    if (keyOfBytes(window.at(offset, record.length)) === record.key) yield { ...record, offset };
    at = offset + record.length;
  }
}

/** A part of a file in memory. */
class Window {
  readonly size: number;
  readonly #disk: Disk;
  readonly #fd: number;
  #bytes = Buffer.alloc(0);
  #start = 0;

  constructor(disk: Disk, fd: number) {
    this.#disk = disk;
    this.#fd = fd;
    this.size = disk.size(fd);
  }

  /** Valid until the next call; within the file. */
  at(offset: number, length: number): Buffer {
    if (offset < this.#start || offset + length > this.#start + this.#bytes.length) this.#read(offset, length);
    return this.#bytes.subarray(offset - this.#start, offset - this.#start + length);
  }

  /** Where the bytes come next; the end of the file if nowhere. */
  next(bytes: Buffer, from: number): number {
    for (let at = from; at + bytes.length <= this.size; at = this.#start + this.#bytes.length - bytes.length + 1) {
      this.at(at, bytes.length);
      const found = this.#bytes.indexOf(bytes, at - this.#start);
      if (found >= 0) return this.#start + found;
    }
    return this.size;
  }

  #read(offset: number, length: number): void {
    const bytes = Buffer.allocUnsafeSlow(Math.min(this.size - offset, Math.max(length, WINDOW)));
    const read = this.#disk.pread(this.#fd, bytes, offset);
    bytes.fill(0, read);
    this.#bytes = bytes;
    this.#start = offset;
  }
}
