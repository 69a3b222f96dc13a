import type { Roots } from '../../../../lib/store/garbage/roots.ts';
import type { ObjectReads } from '../../../../lib/store/object-reads.ts';
import type { ObjectStore } from '../../../../lib/store/object-store.ts';
import type { Writing } from '../../../../lib/store/writing.ts';
import { entriesOf } from '../../../../lib/trees/directory/entries.ts';
import { AbsentObject, type Source } from '../../../../lib/trees/directory/source.ts';
import { type DirectoryEntry, type Entry, isDirectory } from '../../../../lib/trees/format/entry.ts';
import { type Key, NO_KEY } from '../../../../lib/trees/format/keys.ts';
import { entryAt, withEntry } from '../../trees/edit.ts';
import { directoryEntry, fileEntry } from '../../trees/random.ts';
import { version } from '../stores.ts';

/** Of sandboxes: there are none. */
export const NO_PLACES: Source = {
  load(key) {
    throw new AbsentObject(key, 'missing');
  },
};

export function rootsOf(versions: Record<string, Key>, more: Partial<Roots> = {}): Roots {
  const named = Object.entries(versions).map(([name, key]) => ({ key, name }));
  return { versions: named, directories: [], contents: [], places: NO_PLACES, ...more };
}

/** Puts a tree of files; directories are made as they are needed. */
export function putTree(store: ObjectStore, writing: Writing, files: Record<string, string>): DirectoryEntry {
  let tree: Entry = directoryEntry('');
  for (const [path, text] of Object.entries(files)) {
    const parts = path.split('/').slice(0, -1);
    for (let depth = 1; depth <= parts.length; depth++) {
      const parent = parts.slice(0, depth).join('/');
      if (!isDirectory(entryAt(store, tree, parent)))
        tree = withEntry(store, writing, tree, parent, directoryEntry(''));
    }
    const bytes = Buffer.from(text);
    tree = withEntry(store, writing, tree, path, { ...fileEntry('', text), key: writing.putContents(bytes) });
  }
  return tree as DirectoryEntry;
}

/** A version with a tree of these files, durable. */
export function putVersion(store: ObjectStore, number: number, files: Record<string, string>, parent = NO_KEY): Key {
  const writing = store.begin();
  try {
    const key = writing.putVersion(version(number, { root: putTree(store, writing, files), parent }));
    writing.sync();
    return key;
  } finally {
    writing.end();
  }
}

/** What a version has: all is read, and its digests are right. */
export function readVersion(store: ObjectReads, key: Key): Record<string, string> {
  const files: Record<string, string> = {};
  const go = (path: string, entry: Entry): void => {
    if (!isDirectory(entry)) files[path] = entry.size === 0 ? '' : store.bytes(entry.key, entry.size).toString();
    else for (const each of entriesOf(store, entry.key)) go(path === '' ? each.name : `${path}/${each.name}`, each);
  };
  go('', store.version(key).root);
  return files;
}
