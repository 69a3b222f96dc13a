import { mkdirSync, statfsSync } from 'node:fs';
import { hostErrno } from '../../linux/errno.ts';

/** The host directory of a delta, the server's own. */
export function makeDeltaDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Blocks of this size left on its disk. */
export function blocksLeft(path: string, size: number): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return Math.floor((bavail * bsize) / size);
  } catch (error) {
    throw hostErrno(error);
  }
}
