import type { ByteString } from '../../byte-string.ts';
import { type DirectoryEntry, EMPTY_DIRECTORY, type Entry, type Time, TYPE } from '../../trees/format/entry.ts';
import { type Key, NO_KEY } from '../../trees/format/keys.ts';

interface Attributes {
  readonly name: ByteString;
  readonly ino: number;
  readonly mode: number;
  readonly mtime: Time;
  readonly ctime: Time;
}

/** Of directories that nobody named: made for what is in them. */
export const DIRECTORY_MODE = 0o755;
const SYMLINK_MODE = 0o777;

/** Entries are literals, without parts that are spread into them: an import makes a million. */
export function newFile(
  { name, ino, mode, mtime, ctime }: Attributes,
  { key, size }: { key: Key; size: number },
): Entry {
  return {
    name,
    type: TYPE.file,
    mode,
    nlink: 1,
    ino,
    size,
    mtime: mtime.s,
    mtimeNs: mtime.ns,
    ctime: ctime.s,
    ctimeNs: ctime.ns,
    key,
    agentText: false,
    totals: undefined,
    target: undefined,
    rdev: undefined,
    atime: undefined,
    owner: undefined,
    holes: undefined,
  };
}

export function newSymlink(attributes: Omit<Attributes, 'mode'>, target: ByteString): Entry {
  const entry = newFile({ ...attributes, mode: SYMLINK_MODE }, { key: NO_KEY, size: target.length });
  return { ...entry, type: TYPE.symlink, target };
}

export function newDirectory(attributes: Attributes): DirectoryEntry {
  return { ...newFile(attributes, EMPTY_DIRECTORY), ...EMPTY_DIRECTORY };
}

/** The time as attributes of an entry. */
export function changedAt({ s, ns }: Time): Pick<Entry, 'ctime' | 'ctimeNs'> {
  return { ctime: s, ctimeNs: ns };
}

export function modifiedAt({ s, ns }: Time): Pick<Entry, 'mtime' | 'mtimeNs'> {
  return { mtime: s, mtimeNs: ns };
}

export function timeOfMs(ms: number): Time {
  const s = Math.floor(ms / 1000);
  return { s, ns: Math.floor((ms - s * 1000) * 1e6) };
}

/** Of a time without parts of a millisecond. */
export function msOfTime({ s, ns }: Time): number {
  return s * 1000 + ns / 1_000_000;
}
