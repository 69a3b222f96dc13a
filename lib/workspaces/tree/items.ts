import type { ByteString } from '../../byte-string.ts';
import { type DirectoryEntry, type Entry, isDirectory } from '../../trees/format/entry.ts';
import { dividedIfLarge, type LargeMap } from '../delta/index/divided-map.ts';

/** What a name of the tree has: an entry of a frozen tree is clean, the others may change. */
export type Item = Entry | OwnDirectory | OwnFile;
export type Directory = DirectoryEntry | OwnDirectory;

/** One name of a file. */
export interface FileName {
  readonly dir: OwnDirectory;
  readonly name: ByteString;
}

/** What a journal knows by a number; see `Numbering`. */
abstract class Numbered {
  id = 0;
  journal = 0;
}

/**
 * A directory with names of its own: a patch over an object that never changes. Those above it are own, too. So only its
 * patch has own items.
 */
export class OwnDirectory extends Numbered {
  /** Its attributes; key, size and totals are those of the object below the patch. */
  entry: DirectoryEntry;
  /** Of the root null, and of a directory that is not in the tree any more. */
  parent: OwnDirectory | null;
  name: ByteString;
  /** Names that it has, the patch and the object together. */
  size: number;
  /** Objects that the next freeze writes anew because of the patch. */
  readonly rewritten = new Set<string>();
  #patch: LargeMap<ByteString, Item | null> = new Map();
  #sorted: readonly ByteString[] | undefined;

  constructor(entry: DirectoryEntry, parent: OwnDirectory | null, name: ByteString) {
    super();
    this.entry = entry;
    this.parent = parent;
    this.name = name;
    this.size = entry.size;
  }

  /** By name; null: the object has the name, and the directory has not. */
  get patch(): Pick<LargeMap<ByteString, Item | null>, 'get' | 'size' | typeof Symbol.iterator> {
    return this.#patch;
  }

  /** The names of the patch, ascending: another array whenever they are others. */
  get sorted(): readonly ByteString[] {
    this.#sorted ??= [...this.#patch.keys()].sort();
    return this.#sorted;
  }

  set(name: ByteString, item: Item | null): void {
    const { size } = this.#patch;
    this.#patch = dividedIfLarge(this.#patch).set(name, item);
    if (this.#patch.size !== size) this.#sorted = undefined;
  }

  unset(name: ByteString): void {
    if (this.#patch.delete(name)) this.#sorted = undefined;
  }

  /** The object below the patch is another one, with the same entries at the names of the patch. */
  rebase(entry: DirectoryEntry): void {
    this.size += entry.size - this.entry.size;
    this.entry = entry;
  }
}

/** A file that may change, or a symlink or special file: one for all its names. */
export class OwnFile extends Numbered {
  /** Its name does not count. */
  entry: Entry;
  /** None while it is only open. */
  names: readonly FileName[];

  constructor(entry: Entry, names: readonly FileName[]) {
    super();
    this.entry = entry;
    this.names = names;
  }
}

export function isDirectoryItem(item: Item | undefined): item is Directory {
  if (item instanceof OwnDirectory) return true;
  return !(item instanceof OwnFile) && isDirectory(item);
}

/** The entry that the item has at this moment; of an own directory its key and totals are those before its changes. */
export function entryOf(item: Item): Entry {
  if (item instanceof OwnFile) return item.entry;
  return item instanceof OwnDirectory ? { ...item.entry, size: item.size } : item;
}

/** The own directories of a subtree, each before those in it. Paths are deeper than the stack. */
export function ownBelow(top: OwnDirectory): OwnDirectory[] {
  const all = [top];
  for (let index = 0; index < all.length; index++)
    for (const [, item] of all[index]!.patch) if (item instanceof OwnDirectory) all.push(item);
  return all;
}
