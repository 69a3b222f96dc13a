import type { Disk } from '../../../disk/disk.ts';
import { errorCode } from '../../../linux/errno.ts';
import { makeFolder } from './files.ts';

/** The folder of segments in that of a store. Each is a file with its number as its name. */
export const SEGMENTS = 'trees';

/**
 * Numbers for segments. None is given twice, also not that of a segment that a sweep removed: its places are names of what was
 * there, and may be in caches. So the next one is in the root. Those after it that exist are passed over: a sweep removes only
 * what was there when the durable root was made.
 */
export class SegmentNumbers {
  #next: number;
  readonly #end: number;

  constructor(next: number, end = 2 ** 32) {
    this.#next = next;
    this.#end = end;
  }

  /** None from this one on was given. */
  get next(): number {
    return this.#next;
  }

  take(): number {
    if (this.#next >= this.#end) throw new Error('no number is left for a segment');
    return this.#next++;
  }

  /** Those of a writer in another thread. */
  lease(count: number): SegmentNumbers {
    const first = this.#next;
    this.#next += count;
    return new SegmentNumbers(first, this.#next);
  }
}

export function segmentPath(folder: string, segment: number): string {
  return `${folder}/${SEGMENTS}/${segment}`;
}

/** Begins a segment. Whoever calls this is its one writer, in whatever thread. The names are not durable. */
export function createSegment(disk: Disk, folder: string, numbers: SegmentNumbers): { fd: number; segment: number } {
  makeFolder(disk, `${folder}/${SEGMENTS}`);
  for (;;) {
    const segment = numbers.take();
    try {
      return { fd: disk.open(segmentPath(folder, segment), 'create'), segment };
    } catch (error) {
      // One that came after the root from which the numbers go on.
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}
