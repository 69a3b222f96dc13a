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

export function newFile(attributes: Attributes, contents: { key: Key; size: number }): Entry {
  return { ...plain(attributes), type: TYPE.file, key: contents.key, size: contents.size };
}

export function newSymlink(attributes: Omit<Attributes, 'mode'>, target: ByteString): Entry {
  return { ...plain({ ...attributes, mode: SYMLINK_MODE }), type: TYPE.symlink, target, size: target.length };
}

export function newDirectory(attributes: Attributes): DirectoryEntry {
  return { ...plain(attributes), ...EMPTY_DIRECTORY };
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

function plain({ name, ino, mode, mtime, ctime }: Attributes) {
  return {
    name,
    ino,
    mode,
    nlink: 1,
    ...modifiedAt(mtime),
    ...changedAt(ctime),
    key: NO_KEY,
    agentText: false,
    totals: undefined,
    target: undefined,
    rdev: undefined,
    atime: undefined,
    owner: undefined,
  };
}
