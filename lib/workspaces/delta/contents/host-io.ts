import { ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { errorCode, hostErrno } from '../../../linux/errno.ts';

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

/** Opens a file for reading; the caller closes it. Returns undefined if it does not exist. Throws as the others. */
export function openIfExists(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw hostErrno(error);
  }
}
