import { ENOTEMPTY } from '../../../linux/errno.ts';
import { EMPTY_DIRECTORY, type Time } from '../../../trees/format/entry.ts';
import { type Directory, type Item, OwnDirectory, OwnFile } from '../items.ts';
import type { LiveTree } from '../live-tree.ts';
import type { Place } from '../place.ts';
import { thaw } from './thaw.ts';

/** What a place has, ready to be moved or removed: a file with several names is own, because the others change with it. */
export function movable(tree: LiveTree, place: Place): Item | undefined {
  const { item, dir, name } = place;
  if (item === undefined || item instanceof OwnDirectory || item instanceof OwnFile) return item;
  return item.nlink > 1 ? thaw(tree, dir, name) : item;
}

/** Throws ENOTEMPTY. */
export function requireEmpty({ size }: Directory): void {
  if (size > 0) throw ENOTEMPTY;
}

/** The item, an empty directory or none, has lost this name. Call it after the place got what it has now. */
export function lose(tree: LiveTree, item: Item, { dir, name }: Place, time: Time): void {
  const { counters, numbering } = tree;
  if (item instanceof OwnFile) {
    const names = item.names.filter((other) => other.dir !== dir || other.name !== name);
    rename(tree, item, names, time);
    if (names.length === 0) numbering.take(item);
  } else if (item instanceof OwnDirectory) {
    counters.remove({ ...item.entry, totals: EMPTY_DIRECTORY.totals });
    item.parent = null;
    numbering.take(item);
  } else counters.remove(item);
}

/** The file has these names from now on. */
export function rename({ counters }: LiveTree, file: OwnFile, names: OwnFile['names'], time: Time): void {
  counters.remove(file.entry, file.names.length);
  file.entry = { ...file.entry, nlink: names.length, ctime: time.s, ctimeNs: time.ns };
  file.names = names;
  counters.add(file.entry, names.length);
}

/** Its names have changed. */
export function touch(dir: OwnDirectory, { s, ns }: Time): void {
  dir.entry = { ...dir.entry, mtime: s, mtimeNs: ns, ctime: s, ctimeNs: ns };
}
