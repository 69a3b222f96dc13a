import { fromLatin1 } from '../../../lib/byte-string.ts';
import { childOf, entryAt as find } from '../../../lib/trees/directory/find-entry.ts';
import { patchDirectory } from '../../../lib/trees/directory/patch-directory.ts';
import type { Sink, Source } from '../../../lib/trees/directory/source.ts';
import { type Entry, isDirectory } from '../../../lib/trees/format/entry.ts';

/** The entry at a path of a tree. */
export function entryAt(source: Source, tree: Entry | undefined, path: string): Entry | undefined {
  return find(source, tree, fromLatin1(path));
}

/** The tree with another entry, or none, at a path in a directory that it has. */
export function withEntry(source: Source, sink: Sink, tree: Entry, path: string, entry: Entry | undefined): Entry {
  const [first, rest] = splitOff(path);
  const name = fromLatin1(first);
  if (!isDirectory(tree)) throw new Error(`no directory for ${path}`);
  const now = rest === '' ? entry : withEntry(source, sink, childOf(source, tree, name)!, rest, entry);
  return { ...tree, ...patchDirectory(source, sink, tree.key, [[name, now && { ...now, name }]]) };
}

function splitOff(path: string): [first: string, rest: string] {
  const slash = path.indexOf('/');
  return slash < 0 ? [path, ''] : [path.slice(0, slash), path.slice(slash + 1)];
}
