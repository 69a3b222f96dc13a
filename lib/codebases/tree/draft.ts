import type { ByteString } from '../../byte-string.ts';
import { findEntry } from '../../trees/directory/find-entry.ts';
import type { Source } from '../../trees/directory/source.ts';
import { type DirectoryEntry, type Entry, isDirectory, type Time } from '../../trees/format/entry.ts';
import { changedAt, modifiedAt } from './new-entry.ts';

/** Names that are held in memory before their directories become objects: a million would take hundreds of megabytes. */
export const MAX_PENDING = 100_000;

/** A directory with changes that are in memory only. */
export class DraftDirectory {
  /** Its key, size and totals are those before the changes. */
  attributes: DirectoryEntry;
  readonly changes = new Map<ByteString, Node | undefined>();
  /** Entries after the changes. */
  size: number;

  constructor(entry: DirectoryEntry) {
    this.attributes = entry;
    this.size = entry.size;
  }
}

export type Node = Entry | DraftDirectory;

export function isDirectoryNode(node: Node | undefined): node is DirectoryEntry | DraftDirectory {
  return node instanceof DraftDirectory || isDirectory(node);
}

/** A tree that is being changed. What nothing changes in is not read. */
export class Draft {
  root: DraftDirectory;
  /** Changed names and entered directories since the last build. */
  pending = 0;
  /** A name of a file with several names may be gone: the others have its old count. */
  hasUnlinked = false;
  readonly #source: Source;
  readonly #time: Time | undefined;

  /** `time`: that of a directory in which names change; absent: it keeps its own. */
  constructor(source: Source, root: DirectoryEntry, time?: Time) {
    this.#source = source;
    this.#time = time;
    this.root = new DraftDirectory(root);
  }

  /** Begins anew: directories that were entered before are of no use any more. */
  replace(root: DirectoryEntry): void {
    this.root = new DraftDirectory(root);
    this.pending = 0;
  }

  get(directory: Node, name: ByteString): Node | undefined {
    if (!(directory instanceof DraftDirectory))
      return isDirectory(directory) ? findEntry(this.#source, directory.key, name) : undefined;
    if (directory.changes.has(name)) return directory.changes.get(name);
    return findEntry(this.#source, directory.attributes.key, name);
  }

  /** As `get`; a directory is one whose names can be set. */
  enter(directory: DraftDirectory, name: ByteString): Node | undefined {
    const node = this.get(directory, name);
    if (node instanceof DraftDirectory || !isDirectory(node)) return node;
    const entered = new DraftDirectory(node);
    directory.changes.set(name, entered);
    this.pending++;
    return entered;
  }

  /** `before`: what `get` answers. */
  set(directory: DraftDirectory, name: ByteString, before: Node | undefined, after: Node | undefined): void {
    directory.changes.set(name, after);
    directory.size += (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    if (hasLinks(before)) this.hasUnlinked = true;
    this.pending++;
    const time = this.#time;
    if (time) directory.attributes = { ...directory.attributes, ...modifiedAt(time), ...changedAt(time) };
  }

  /** A new directory, where there is nothing. */
  make(directory: DraftDirectory, entry: DirectoryEntry): DraftDirectory {
    const made = new DraftDirectory(entry);
    this.set(directory, entry.name, undefined, made);
    return made;
  }
}

function hasLinks(node: Node | undefined): boolean {
  if (node instanceof DraftDirectory) return node.attributes.totals.linked > 0;
  return isDirectory(node) ? node.totals.linked > 0 : node !== undefined && node.nlink > 1;
}
