import { ROOT_PATH } from '../../byte-string.ts';
import { keyOfBytes } from '../../store/digest.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { encodeVersion } from '../../store/versions/encode-version.ts';
import type { Version } from '../../store/versions/version.ts';
import { require } from '../../trees/format/format-error.ts';
import { NO_KEY } from '../../trees/format/keys.ts';
import type { Head } from './head.ts';
import { DIRECTORY_MODE, msOfTime, newDirectory, timeOfMs } from './new-entry.ts';

const ROOT_INO = 1;
const FIRST = 1;

/** The head of a codebase without files. Its version need not be stored before `storeFirst`. */
export function firstHead(store: bigint, ms: number): Head {
  const version = firstVersionAt(ms);
  const { number, root, nextIno } = version;
  return { store, number, version: keyOfBytes(encodeVersion(version)), root, nextIno };
}

/** Whether nothing was ever put into the codebase, so that its store may be made anew. */
export function isFirst({ number }: Head): boolean {
  return number === FIRST;
}

/** Stores the version of a first head, unless it is there. It is durable. Throws a FormatError for another head. */
export function storeFirst(store: ObjectStore, { version, root }: Head): void {
  const writing = store.begin();
  try {
    const stored = writing.putVersion(firstVersionAt(msOfTime({ s: root.mtime, ns: root.mtimeNs })));
    require(stored === version, 'a head that is not the first one of its codebase');
    writing.sync();
  } finally {
    writing.end();
  }
}

function firstVersionAt(ms: number): Version {
  const time = timeOfMs(ms);
  const root = newDirectory({ name: ROOT_PATH, ino: ROOT_INO, mode: DIRECTORY_MODE, mtime: time, ctime: time });
  return {
    number: FIRST,
    root,
    nextIno: ROOT_INO + 1,
    kind: 'create',
    createdAt: ms,
    parent: NO_KEY,
    author: '',
    message: '',
    paths: [],
    commit: undefined,
    request: undefined,
  };
}
