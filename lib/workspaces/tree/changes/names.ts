import type { ByteString } from '../../../byte-string.ts';
import { EEXIST, EISDIR, ENOENT } from '../../../linux/errno.ts';
import { type Entry, isDirectory, named, type Time, TYPE } from '../../../trees/format/entry.ts';
import { type Item, isDirectoryItem, type OwnDirectory, OwnFile } from '../items.ts';
import type { LiveTree } from '../live-tree.ts';
import { lose, movable, rename, requireEmpty, touch } from './lose.ts';

/**
 * The name gets an entry, or a file that has no name. A directory comes with all that is in it. Answers with what the name
 * has now and had before; a regular file is own. Throws EISDIR if the name has a directory.
 */
export function put(
  tree: LiveTree,
  dir: OwnDirectory,
  name: ByteString,
  what: Entry | OwnFile,
  time: Time,
): { item: Item; lost: Item | undefined } {
  const place = tree.place(dir, name);
  const lost = movable(tree, place);
  if (isDirectoryItem(lost)) throw EISDIR;
  const given = named(what instanceof OwnFile ? what.entry : what, name);
  const entry = given.nlink === 0 ? { ...given, nlink: 1 } : given;
  tree.append({ op: 'put', at: tree.linkTo(place, false), entry, time }, false);
  const item = own(tree, what, entry, { dir, name });
  place.set(item);
  tree.counters.add(entry);
  if (lost !== undefined) lose(tree, lost, place, time);
  if (isDirectory(entry) && entry.totals.linked > 0) tree.linkPaths.forget();
  touch(dir, time);
  return { item, lost };
}

function own(tree: LiveTree, what: Entry | OwnFile, entry: Entry, name: OwnFile['names'][number]): Item {
  if (what instanceof OwnFile) {
    tree.unlinked.release(what);
    what.entry = entry;
    what.names = [name];
  } else if (entry.type !== TYPE.file) return entry;
  const file = what instanceof OwnFile ? what : new OwnFile(entry, [name]);
  if (entry.type === TYPE.file) tree.numbering.give(file);
  return file;
}

/** Answers with what the name had. Throws ENOENT, and ENOTEMPTY for a directory. */
export function drop(tree: LiveTree, dir: OwnDirectory, name: ByteString, time: Time): Item {
  const place = tree.place(dir, name);
  const lost = movable(tree, place);
  if (lost === undefined) throw ENOENT;
  if (isDirectoryItem(lost)) requireEmpty(lost);
  tree.append({ op: 'drop', at: tree.linkTo(place, true), time }, true);
  place.set(null);
  lose(tree, lost, place, time);
  touch(dir, time);
  return lost;
}

/** One more name of a file. Throws EEXIST, and ENOENT for a file that has none. */
export function link(tree: LiveTree, file: OwnFile, dir: OwnDirectory, name: ByteString, time: Time): void {
  const place = tree.place(dir, name);
  if (place.item !== undefined) throw EEXIST;
  if (file.names.length === 0) throw ENOENT;
  tree.append({ op: 'link', file: tree.fileId(file, false), at: tree.linkTo(place, false), time }, false);
  place.set(file);
  rename(tree, file, [...file.names, { dir, name }], time);
  touch(dir, time);
}
