import { fdatasyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { closeQuietly } from '../../../linux/close.ts';
import { hostErrno } from '../../../linux/errno.ts';

/** What there is of the range. */
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

/** Returns how much was written: less than all when the disk filled up, but something. */
export function writeFile(fd: number, offset: number, data: Buffer): number {
  let done = 0;
  try {
    while (done < data.length) done += writeSync(fd, data, done, data.length - done, offset + done);
  } catch (error) {
    if (done === 0) throw hostErrno(error);
  }
  return done;
}

export function truncateFile(fd: number, size: number): void {
  try {
    ftruncateSync(fd, size);
  } catch (error) {
    throw hostErrno(error);
  }
}

/** Those that are there. */
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
