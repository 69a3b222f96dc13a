import { crc32 } from 'node:zlib';
import type { Disk } from '../../../disk/disk.ts';
import { errorCode } from '../../../linux/errno.ts';
import type { OpenFiles } from '../../../store/open-files.ts';
import type { Place } from '../../../trees/format/keys.ts';
import { segmentPath } from './segments.ts';

/** Reads objects from the segments of one store. The owner calls `close` before their files go, whose space is held else. */
export class SegmentReader {
  readonly #disk: Disk;
  readonly #files: OpenFiles;
  readonly #folder: string;
  readonly #opened = new Set<number>();

  /** `files`: those of the thread. */
  constructor(disk: Disk, files: OpenFiles, folder: string) {
    this.#disk = disk;
    this.#files = files;
    this.#folder = folder;
  }

  /** undefined: the object is not there, or not as it was written. Throws host errors that may pass. */
  read({ segment, offset, length, crc }: Place): Buffer | undefined {
    try {
      const fd = this.#fd(segment);
      // A wrong length must not ask for more memory than a segment has.
      if (offset + length > this.#disk.size(fd)) return undefined;
      const bytes = Buffer.allocUnsafeSlow(length);
      if (this.#disk.pread(fd, bytes, offset) < length) return undefined;
      return crc32(bytes) === crc ? bytes : undefined;
    } catch (error) {
      const code = errorCode(error);
      if (code === 'EIO' || code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Of a segment that is to go. */
  forget(segment: number): void {
    if (this.#opened.delete(segment)) this.#files.forget(segmentPath(this.#folder, segment));
  }

  close(): void {
    for (const segment of this.#opened) this.forget(segment);
  }

  #fd(segment: number): number {
    const fd = this.#files.fd(segmentPath(this.#folder, segment));
    this.#opened.add(segment);
    return fd;
  }
}
