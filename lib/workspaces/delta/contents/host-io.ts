import { fdatasyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { closeQuietly } from '../../../linux/close.ts';
import { hostErrno } from '../../../linux/errno.ts';

/**
 * pread(2) of the whole range. Returns the number of bytes read, fewer only at the end of the file. Throws host errors
 * as `Errno`.
 */
export function readFile(fd: number, offset: number, into: Buffer): number {
  try {
    let done = 0;
    while (done < into.length) {
      const count = readSync(fd, into, done, into.length - done, offset + done);
      if (count === 0) break;
      done += count;
    }
    return done;
  } catch (error) {
    throw hostErrno(error);
  }
}

/**
 * pwrite(2) of all data. Returns the number of bytes written: fewer if the disk became full, but at least one. Throws
 * host errors as `Errno`.
 */
export function writeFile(fd: number, offset: number, data: Buffer): number {
  let done = 0;
  try {
    while (done < data.length) done += writeSync(fd, data, done, data.length - done, offset + done);
  } catch (error) {
    if (done === 0) throw hostErrno(error);
  }
  return done;
}

/** ftruncate(2) to `size` bytes. Throws host errors as `Errno`. */
export function truncateFile(fd: number, size: number): void {
  try {
    ftruncateSync(fd, size);
  } catch (error) {
    throw hostErrno(error);
  }
}

/** fdatasync(2) of the files that exist. Throws host errors as `Errno`. */
export function syncFiles(paths: readonly string[]): void {
  for (const path of paths) {
    try {
      const fd = openSync(path, 'r');
      try {
        fdatasyncSync(fd);
      } finally {
        closeQuietly(fd);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw hostErrno(error);
    }
  }
}
