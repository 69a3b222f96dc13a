import type * as fs from 'node:fs/promises';
import { join } from 'node:path';

/** The file operations in use; tests replace them to inject failures. */
export type LogFileSystem = Pick<typeof fs, 'mkdir' | 'open' | 'readdir' | 'rename' | 'rm' | 'stat' | 'unlink'>;

/** One file of a log. */
export interface Segment {
  readonly path: string;
  /** Offset of its first byte of output; also its name. */
  readonly start: number;
  /** Offset after its last byte. Of an earlier server's log: where the next segment starts, so there may be less. */
  end: number;
  /** Bytes of the file that are written. */
  size: number;
  /**
   * Bytes of an earlier segment whose file this one overwrites; 0 for a new file. Those from `size` on are older output:
   * the heads of their blocks have offsets before `start`.
   */
  reused: number;
}

/** Bytes of the file. */
export const bytesOnDisk = ({ size, reused }: Segment): number => Math.max(size, reused);

const NAME = /^(\d{16})\.out$/;

export function segmentAt(directory: string, start: number): Segment {
  const path = join(directory, `${String(start).padStart(16, '0')}.out`);
  return { path, start, end: start, size: 0, reused: 0 };
}

/** The start in the name of a segment's file; undefined for any other name. */
export function startInName(name: string): number | undefined {
  const digits = NAME.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
