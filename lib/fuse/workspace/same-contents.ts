import { readSync } from 'node:fs';
import { closeQuietly } from './delta/data-files.ts';
import { hostErrno } from './errno.ts';

const BLOCK = 64 * 1024;

/** Whether two files of the same size hold the same bytes. Opens and closes both. */
export function sameContents(openA: () => number, openB: () => number): boolean {
  const a = openA();
  try {
    const b = openB();
    try {
      return compare(a, b);
    } finally {
      closeQuietly(b);
    }
  } catch (error) {
    throw hostErrno(error);
  } finally {
    closeQuietly(a);
  }
}

function compare(a: number, b: number): boolean {
  const blockA = Buffer.allocUnsafe(BLOCK);
  const blockB = Buffer.allocUnsafe(BLOCK);
  for (let at = 0; ; ) {
    const read = readSync(a, blockA, 0, BLOCK, at);
    if (fill(b, blockB, read, at) !== read || blockA.compare(blockB, 0, read, 0, read) !== 0) return false;
    if (read === 0) return readSync(b, blockB, 0, 1, at) === 0;
    at += read;
  }
}

function fill(fd: number, into: Buffer, length: number, at: number): number {
  let done = 0;
  while (done < length) {
    const read = readSync(fd, into, done, length - done, at + done);
    if (read === 0) break;
    done += read;
  }
  return done;
}
