import { type ByteString, fromLatin1, splitPath } from '../../../../lib/byte-string.ts';
import type { DirectoryEntry, Entry } from '../../../../lib/trees/format/entry.ts';
import { slotKey } from '../../../../lib/trees/format/keys.ts';
import { Epochs } from '../../../../lib/workspaces/tree/epochs.ts';
import type { OwnDirectory } from '../../../../lib/workspaces/tree/items.ts';
import { LiveTree } from '../../../../lib/workspaces/tree/live-tree.ts';
import { withEntry } from '../../trees/edit.ts';
import { Memory } from '../../trees/memory.ts';
import { directoryEntry, fileEntry } from '../../trees/random.ts';
import { MemoryJournal } from './memory-journal.ts';

const STORE = slotKey({ store: 7n, class: 0, slot: 0, sequence: 0, birth: 0, crc: 0 }).slice(1, 9);
export const TIME = { s: 100, ns: 5 };

export interface Live {
  readonly memory: Memory;
  readonly journal: MemoryJournal;
  readonly tree: LiveTree;
}

/** A tree over these files, each with its path as contents; a path that ends with a slash is an empty directory. */
export function liveTree(paths: readonly string[], attributes: Partial<Entry> = {}): Live {
  const memory = new Memory();
  const journal = new MemoryJournal();
  const frozen = treeOf(memory, paths, attributes);
  const base = { version: 1, base: frozen };
  const tree = new LiveTree({ source: memory, frozen, base, journal, epochs: new Epochs(STORE, 1, 0) });
  return { memory, journal, tree };
}

function treeOf(memory: Memory, paths: readonly string[], attributes: Partial<Entry> = {}): DirectoryEntry {
  let ino = 2;
  let top = directoryEntry('', { ino: 1 });
  const made = new Set<string>();
  const mkdir = (path: string) => {
    if (path === '' || made.has(path)) return;
    mkdir(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    made.add(path);
    top = withEntry(memory, memory.hashed, top, path, directoryEntry('', { ino: ino++ }));
  };
  for (const path of paths) {
    mkdir(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    if (!path.endsWith('/'))
      top = withEntry(memory, memory.hashed, top, path, fileEntry('', path, { ino: ino++, ...attributes }));
  }
  return top as DirectoryEntry;
}

/** A path as the directory and the name that changes are made with. */
export function at(tree: LiveTree, path: string): [dir: OwnDirectory, name: ByteString] {
  const slash = path.lastIndexOf('/');
  return [tree.ownAt(splitPath(fromLatin1(path.slice(0, Math.max(0, slash))))), fromLatin1(path.slice(slash + 1))];
}
