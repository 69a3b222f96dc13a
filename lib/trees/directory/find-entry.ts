import { type ByteString, splitPath } from '../../byte-string.ts';
import { type Entry, isDirectory } from '../format/entry.ts';
import { type Key, NO_KEY } from '../format/keys.ts';
import { loadBelow, type Source } from './source.ts';

/** The entry of a name in the directory of an object. */
export function findEntry(source: Source, directory: Key, name: ByteString): Entry | undefined {
  if (directory === NO_KEY) return undefined;
  let object = source.load(directory);
  while (object.level > 0) object = loadBelow(source, object, object.floor(name));
  const index = object.find(name);
  return index < 0 ? undefined : object.entry(index);
}

/** The entry of a name below another entry; undefined if that is no directory. */
export function childOf(source: Source, parent: Entry | undefined, name: ByteString): Entry | undefined {
  return isDirectory(parent) ? findEntry(source, parent.key, name) : undefined;
}

/** The entry at a path of a tree. */
export function entryAt(source: Source, tree: Entry | undefined, path: ByteString): Entry | undefined {
  let entry = tree;
  for (const name of splitPath(path)) entry = childOf(source, entry, name);
  return entry;
}
