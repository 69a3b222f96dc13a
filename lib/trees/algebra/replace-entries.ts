import { type ByteString, baseNameOf, parentOf, ROOT_PATH, splitPath } from '../../byte-string.ts';
import { entryAt } from '../directory/find-entry.ts';
import { patchDirectory } from '../directory/patch-directory.ts';
import { byName } from '../directory/pieces.ts';
import type { Sink, Source } from '../directory/source.ts';
import { type Entry, isDirectory } from '../format/entry.ts';

type Names = Map<ByteString, Entry>;

/**
 * The tree with other entries at paths that it has. An entry of a directory replaces its attributes; what is in it is
 * replaced by the entries for paths below it. Each directory is written once.
 */
export function replaceEntries(
  source: Source,
  sink: Sink,
  tree: Entry,
  entries: ReadonlyMap<ByteString, Entry>,
): Entry {
  /** By the number of names in their paths: directories, and what changes in each. */
  const levels: Map<ByteString, Names>[] = [];
  const put = (path: ByteString, entry: Entry) => {
    const parent = parentOf(path);
    const depth = splitPath(parent).length;
    const level = levels[depth] ?? new Map<ByteString, Names>();
    levels[depth] = level.set(parent, (level.get(parent) ?? new Map()).set(baseNameOf(path), entry));
  };
  for (const [path, entry] of entries) if (path !== ROOT_PATH) put(path, entry);
  const patched = (entry: Entry, names: Names | undefined) =>
    names ? { ...entry, ...patchDirectory(source, sink, entry.key, [...names].sort(byName)) } : entry;
  for (let depth = levels.length - 1; depth > 0; depth--)
    for (const [path, names] of levels[depth] ?? []) {
      const directory = entries.get(path) ?? entryAt(source, tree, path);
      if (isDirectory(directory)) put(path, patched(directory, names));
    }
  return patched(entries.get(ROOT_PATH) ?? tree, levels[0]?.get(ROOT_PATH));
}
