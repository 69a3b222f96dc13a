import { entriesOf } from '../../../../lib/trees/directory/entries.ts';
import type { Source } from '../../../../lib/trees/directory/source.ts';
import { type Entry, isDirectory } from '../../../../lib/trees/format/entry.ts';
import { noTotals, type Totals } from '../../../../lib/trees/format/totals.ts';
import { Counters } from '../../../../lib/workspaces/tree/counters.ts';
import { type Directory, entryOf, type Item, OwnDirectory, OwnFile } from '../../../../lib/workspaces/tree/items.ts';
import type { LiveTree } from '../../../../lib/workspaces/tree/live-tree.ts';

/** What a user sees at a path. Of a directory the size is the number of its names. */
export type Seen = Pick<
  Entry,
  'type' | 'mode' | 'ino' | 'nlink' | 'size' | 'mtime' | 'ctime' | 'agentText' | 'target'
> & {
  readonly contents: string;
};
export type Flat = ReadonlyMap<string, Seen>;

export function flatOf(tree: LiveTree): Map<string, Seen> {
  return flatten(tree.source, tree.root);
}

/** A live or a frozen tree. */
export function flatten(source: Source, top: Item): Map<string, Seen> {
  const flat = new Map<string, Seen>();
  const go = (path: string, item: Item) => {
    flat.set(path, seen(entryOf(item)));
    for (const [name, below] of namesOf(source, item)) go(path === '' ? name : `${path}/${name}`, below);
  };
  go('', top);
  return flat;
}

/** Totals by looking at each name of a live tree, without its objects that are to be replaced. */
export function countOf(tree: LiveTree): Totals {
  const counted = new Counters(noTotals());
  const go = (directory: Directory) => {
    for (const [, item] of namesOf(tree.source, directory)) {
      if (item instanceof OwnDirectory) {
        counted.add({ ...item.entry, totals: noTotals() });
        go(item);
      } else counted.add(entryOf(item));
    }
  };
  go(tree.root);
  return counted.totals;
}

function* namesOf(source: Source, item: Item): Generator<[string, Item]> {
  if (item instanceof OwnFile) return;
  const own = item instanceof OwnDirectory;
  const entry = own ? item.entry : item;
  if (!isDirectory(entry)) return;
  for (const below of entriesOf(source, entry.key))
    if (!own || item.patch.get(below.name) === undefined) yield [below.name, below];
  if (own) for (const [name, below] of item.patch) if (below !== null) yield [name, below];
}

export function seen(entry: Entry): Seen {
  const { type, mode, ino, nlink, size, mtime, ctime, agentText, target } = entry;
  return {
    type,
    mode,
    ino,
    nlink,
    size,
    mtime,
    ctime,
    agentText,
    target,
    contents: isDirectory(entry) ? '' : entry.key,
  };
}

/** The first path at which two differ, in words; empty: they are equal. */
export function difference(a: Flat, b: Flat): string {
  for (const path of new Set([...a.keys(), ...b.keys()])) {
    const [x, y] = [a.get(path), b.get(path)].map((each) => show(each));
    if (x !== y) return `${path}: ${x} instead of ${y}`;
  }
  return '';
}

export function show(seen: Seen | undefined): string {
  return seen === undefined
    ? 'nothing'
    : JSON.stringify({ ...seen, contents: Buffer.from(seen.contents, 'latin1').toString('hex').slice(0, 40) });
}
