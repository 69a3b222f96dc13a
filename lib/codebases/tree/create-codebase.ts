import { ROOT_PATH } from '../../byte-string.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { NO_KEY } from '../../trees/format/keys.ts';
import type { Head } from './head.ts';
import { DIRECTORY_MODE, newDirectory, timeOfMs } from './new-entry.ts';

const ROOT_INO = 1;

/** The first version of a codebase, without files, in a new store. It is durable. */
export function firstVersion(store: ObjectStore, ms: number): Head {
  const time = timeOfMs(ms);
  const root = newDirectory({ name: ROOT_PATH, ino: ROOT_INO, mode: DIRECTORY_MODE, mtime: time, ctime: time });
  const first = { number: 1, root, nextIno: ROOT_INO + 1 };
  const writing = store.begin();
  try {
    const version = writing.putVersion({
      ...first,
      kind: 'create',
      createdAt: ms,
      parent: NO_KEY,
      author: '',
      message: '',
      paths: [],
      commit: undefined,
      request: undefined,
    });
    writing.sync();
    return { ...first, store: store.number, version };
  } finally {
    writing.end();
  }
}
