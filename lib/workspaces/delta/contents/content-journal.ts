import type { Time } from '../../../linux/time.ts';
import type { DataRef, Inode } from '../index/inode.ts';

/**
 * The journal of the store. Each call makes its record durable against a crash of the server before the store
 * continues.
 */
export interface ContentJournal {
  /** Contents were moved; `fileTime`: the mtime of their data file, if it changed. */
  placed(inode: Inode, data: DataRef, fileTime?: Time): void;
  /** Contents were changed: location, size in bytes and CRC-32, if they are in a slot. */
  changed(inode: Inode, data: DataRef, size: number, sum: number | undefined): void;
  /** Called once for each damaged file. */
  damaged(inode: Inode, message: string): void;
}
