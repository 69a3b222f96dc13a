import { crc32 } from 'node:zlib';
import type { Disk } from '../../../disk/disk.ts';
import { errorCode } from '../../../linux/errno.ts';
import type { Place } from '../../../trees/format/keys.ts';
import { openIfThere } from './files.ts';
import { segmentPath } from './segments.ts';

/** Reads objects from the segments of one store. The owner calls `close`. */
export class SegmentReader {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #open = new Map<number, number>();

  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  /** undefined: the object is not there, or not as it was written. Throws host errors that may pass. */
  read({ segment, offset, length, crc }: Place): Buffer | undefined {
    const fd = this.#segment(segment);
    // A wrong length must not ask for more memory than a segment has.
    if (fd === undefined || offset + length > this.#disk.size(fd)) return undefined;
    const bytes = Buffer.allocUnsafeSlow(length);
    try {
      if (this.#disk.pread(fd, bytes, offset) < length) return undefined;
    } catch (error) {
      if (errorCode(error) === 'EIO') return undefined;
      throw error;
    }
    return crc32(bytes) === crc ? bytes : undefined;
  }

  close(): void {
    for (const fd of this.#open.values()) this.#disk.close(fd);
    this.#open.clear();
  }

  #segment(segment: number): number | undefined {
    const open = this.#open.get(segment);
    if (open !== undefined) return open;
    const fd = openIfThere(this.#disk, segmentPath(this.#folder, segment));
    if (fd !== undefined) this.#open.set(segment, fd);
    return fd;
  }
}
