import { mkdirSync, statfsSync } from 'node:fs';
import { hostErrno } from '../../linux/errno.ts';

/** Creates the host directory of a delta, accessible only to the server. */
export function makeDeltaDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Returns the free space of the file system of `path`, in blocks of `size` bytes. Throws host errors. */
export function blocksLeft(path: string, size: number): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return Math.floor((bavail * bsize) / size);
  } catch (error) {
    throw hostErrno(error);
  }
}
