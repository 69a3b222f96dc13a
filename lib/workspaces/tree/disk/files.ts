import type { Disk } from '../../../disk/disk.ts';
import { errorCode } from '../../../linux/errno.ts';

/** Creates a file in place of one that may be there. */
export function createFile(disk: Disk, path: string): number {
  try {
    return disk.open(path, 'create');
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    disk.unlink(path);
    return disk.open(path, 'create');
  }
}

export function openIfThere(disk: Disk, path: string): number | undefined {
  try {
    return disk.open(path, 'write');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export function makeFolder(disk: Disk, path: string): void {
  try {
    disk.mkdir(path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** Whether a host call failed because there is no space. */
export function isFull(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}
