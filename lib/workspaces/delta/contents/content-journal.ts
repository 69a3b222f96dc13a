import type { DataStat } from './data-files.ts';
import type { DataRef, StoredFile } from './stored-file.ts';

/**
 * The journal of the store. Each call makes its record durable against a crash of the server before the store
 * continues.
 */
export interface ContentJournal {
  /** Contents were moved; `file`: their data file, if it is another one. */
  placed(inode: StoredFile, data: DataRef, file?: DataStat): void;
  /** Contents were changed: location, size in bytes and CRC-32, if they are in a slot. */
  changed(inode: StoredFile, data: DataRef, size: number, sum: number | undefined): void;
  /** Called once for each damaged file. */
  damaged(inode: StoredFile, message: string): void;
}
