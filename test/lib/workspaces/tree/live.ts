import { type ByteString, fromLatin1, splitPath } from '../../../../lib/byte-string.ts';
import { patchDirectory } from '../../../../lib/trees/directory/patch-directory.ts';
import type { DirectoryEntry, Entry } from '../../../../lib/trees/format/entry.ts';
import { NO_KEY, slotKey } from '../../../../lib/trees/format/keys.ts';
import { Epochs } from '../../../../lib/workspaces/tree/epochs.ts';
import type { OwnDirectory } from '../../../../lib/workspaces/tree/items.ts';
import { LiveTree } from '../../../../lib/workspaces/tree/live-tree.ts';
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

function treeOf(memory: Memory, paths: readonly string[], attributes: Partial<Entry>): DirectoryEntry {
  let ino = 1;
  const make = (name: string, path: string, below: readonly string[]): DirectoryEntry => {
    const directory = directoryEntry(name, { ino: ino++ });
    const names = [...new Set(below.map((each) => each.split('/')[0]!))].filter((each) => each !== '').sort();
    const files = new Set(below);
    const changes = names.map((each): [ByteString, Entry] => {
      const at = path === '' ? each : `${path}/${each}`;
      if (files.has(each)) return [fromLatin1(each), fileEntry(each, at, { ino: ino++, ...attributes })];
      const rest = below.filter((other) => other.startsWith(`${each}/`)).map((other) => other.slice(each.length + 1));
      return [fromLatin1(each), make(each, at, rest)];
    });
    return { ...directory, ...patchDirectory(memory, memory.hashed, NO_KEY, changes) } as DirectoryEntry;
  };
  return make('', '', paths);
}

/** A path as the directory and the name that changes are made with. */
export function at(tree: LiveTree, path: string): [dir: OwnDirectory, name: ByteString] {
  const slash = path.lastIndexOf('/');
  return [tree.ownAt(splitPath(fromLatin1(path.slice(0, Math.max(0, slash))))), fromLatin1(path.slice(slash + 1))];
}
