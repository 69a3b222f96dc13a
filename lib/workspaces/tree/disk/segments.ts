import type { Disk } from '../../../disk/disk.ts';
import { errorCode } from '../../../linux/errno.ts';
import { makeFolder } from './files.ts';

/** The folder of segments in that of a store. Each is a file with its number as its name. */
export const SEGMENTS = 'trees';

export function segmentPath(folder: string, segment: number): string {
  return `${folder}/${SEGMENTS}/${segment}`;
}

function segmentsIn(disk: Disk, folder: string): number[] {
  return disk.readdir(`${folder}/${SEGMENTS}`).map(Number);
}

/** Begins a segment. Whoever calls this is its one writer, in whatever thread. The names are not durable. */
export function createSegment(disk: Disk, folder: string): { fd: number; segment: number } {
  makeFolder(disk, `${folder}/${SEGMENTS}`);
  for (;;) {
    const segment = Math.max(0, ...segmentsIn(disk, folder)) + 1;
    try {
      return { fd: disk.open(segmentPath(folder, segment), 'create'), segment };
    } catch (error) {
      // Another thread was faster.
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}
