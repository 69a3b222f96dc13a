import type { ByteString } from '../../byte-string.ts';
import { findEntry } from '../../trees/directory/find-entry.ts';
import { patchDirectory } from '../../trees/directory/patch-directory.ts';
import type { Change } from '../../trees/directory/pieces.ts';
import type { Sink } from '../../trees/directory/source.ts';
import { type DirectoryEntry, type Entry, identical, named } from '../../trees/format/entry.ts';
import type { NextEpochs } from './epochs.ts';
import { OwnDirectory, OwnFile, ownBelow } from './items.ts';
import type { Journal } from './journal/records.ts';
import type { LiveTree } from './live-tree.ts';

/** Begins the journal of a frozen tree. `next`: its epochs, which its root keeps. */
type Begin = (root: DirectoryEntry, next: NextEpochs) => Journal;

/** The entries that own items became: who holds one of these goes on with its entry. */
export type Frozen = ReadonlyMap<OwnDirectory | OwnFile, Entry>;

/**
 * Writes the tree as objects, each directory after those in it, and leaves no patch. `begin` begins
 * the journal of the frozen tree, to which records go from now on; it is the last thing that may fail.
 * `shared`: others will have the contents, too, so that these do not change any more.
 * If it throws, nothing has changed but for base in the former journal, and the objects are garbage.
 */
export function freeze(tree: LiveTree, sink: Sink, begin: Begin, shared: boolean): Frozen {
  const frozen = new Map<OwnDirectory | OwnFile, Entry>();
  const directories = ownBelow(tree.root);
  for (const dir of directories.reverse()) frozen.set(dir, entryOf(tree, sink, dir, frozen));
  tree.record(false);
  const root = frozen.get(tree.root) as DirectoryEntry;
  const journal = begin(root, tree.epochs.after(shared));
  const files = [...frozen.keys()].filter((item) => item instanceof OwnFile);
  tree.linkPaths.frozen(files);
  for (const item of frozen.keys()) tree.numbering.take(item);
  tree.begin(root, journal);
  tree.epochs.next(shared);
  return frozen;
}

function entryOf(tree: LiveTree, sink: Sink, dir: OwnDirectory, frozen: Map<OwnDirectory | OwnFile, Entry>): Entry {
  const { entry, name } = dir;
  const changes: Change<Entry>[] = [];
  for (const at of dir.sorted) {
    const now = frozenItem(dir, at, frozen);
    // Made own, and never changed.
    const item = dir.patch.get(at);
    const unchanged = item instanceof OwnDirectory && now!.key === item.entry.key && item.patch.size === 0;
    if (unchanged && identical(now, findEntry(tree.source, entry.key, at))) continue;
    changes.push([at, now]);
  }
  if (changes.length === 0) return named(entry, name);
  return { ...entry, name, ...patchDirectory(tree.source, sink, entry.key, changes) };
}

function frozenItem(
  dir: OwnDirectory,
  name: ByteString,
  frozen: Map<OwnDirectory | OwnFile, Entry>,
): Entry | undefined {
  const item = dir.patch.get(name) ?? undefined;
  if (item instanceof OwnDirectory) return frozen.get(item);
  if (!(item instanceof OwnFile)) return item;
  const entry = named(item.entry, name);
  frozen.set(item, entry);
  return entry;
}
