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
  /** Of a data file in a sandbox: bytes of its size that the disk does not store; they count for no quota. Never 0. */
  readonly holes: number | undefined;
  /** Only in file systems of several users. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}

export type DirectoryEntry = Entry & { readonly totals: Totals };

export function isDirectory(entry: Entry | undefined): entry is DirectoryEntry {
  return entry !== undefined && entry.type === TYPE.directory;
}

export const EMPTY_DIRECTORY = { type: TYPE.directory, nlink: 1, size: 0, key: NO_KEY, totals: noTotals() } as const;

export function named(entry: Entry, name: ByteString): Entry {
  return entry.name === name ? entry : { ...entry, name };
}

/** Whether two entries have the same bytes, but for their names. */
export function identical(a: Entry | undefined, b: Entry | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  return (
    a.key === b.key &&
    a.type === b.type &&
    a.mode === b.mode &&
    a.nlink === b.nlink &&
    a.ino === b.ino &&
    a.size === b.size &&
    a.agentText === b.agentText &&
    a.target === b.target &&
    a.rdev === b.rdev &&
    a.holes === b.holes &&
    a.mtime === b.mtime &&
    a.mtimeNs === b.mtimeNs &&
    a.ctime === b.ctime &&
    a.ctimeNs === b.ctimeNs &&
    a.atime?.s === b.atime?.s &&
    a.atime?.ns === b.atime?.ns &&
    a.owner?.uid === b.owner?.uid &&
    a.owner?.gid === b.owner?.gid
  );
}
