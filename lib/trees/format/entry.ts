import type { ByteString } from '../../byte-string.ts';
import { type Key, NO_KEY } from './keys.ts';
import { noTotals, type Totals } from './totals.ts';

export const TYPE = {
  file: 1,
  directory: 2,
  symlink: 3,
  // In sandboxes only.
  fifo: 4,
  socket: 5,
  characterDevice: 6,
  blockDevice: 7,
} as const;

/** Seconds since 1970, and nanoseconds. */
export interface Time {
  readonly s: number;
  readonly ns: number;
}

/** A name in a directory, with all that is known of the file without reading it. Never changes. */
export interface Entry {
  readonly name: ByteString;
  readonly type: number;
  /** Permission bits: 07777. */
  readonly mode: number;
  /** Names of the file: more than 1 for files only. */
  readonly nlink: number;
  readonly ino: number;
  /** Directory: its entries. Symlink: bytes of its target. */
  readonly size: number;
  readonly mtime: number;
  readonly mtimeNs: number;
  readonly ctime: number;
  readonly ctimeNs: number;
  /** Of contents, or of the object of a directory. */
  readonly key: Key;
  /** The contents are text that the agent of a sandbox wrote. */
  readonly agentText: boolean;
  /** Of a directory, always. */
  readonly totals: Totals | undefined;
  /** Of a symlink, always. */
  readonly target: ByteString | undefined;
  /** Of a device, always. */
  readonly rdev: number | undefined;
  /** Shown as mtime unless set. */
  readonly atime: Time | undefined;
  /** Only in file systems of several users. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}

export const EMPTY_DIRECTORY = { type: TYPE.directory, nlink: 1, size: 0, key: NO_KEY, totals: noTotals() } as const;
