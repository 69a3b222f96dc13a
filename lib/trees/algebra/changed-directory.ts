import type { ByteString } from '../../byte-string.ts';
import { patchDirectory } from '../directory/patch-directory.ts';
import type { Change } from '../directory/pieces.ts';
import { sharing } from '../directory/share.ts';
import type { Sink, Source } from '../directory/source.ts';
import { type DirectoryEntry, EMPTY_DIRECTORY, type Entry, isDirectory, named } from '../format/entry.ts';

/** Changes of one directory, in the order of names. */
export class Changes {
  readonly #changes: Change<Entry>[] = [];
  /** Names that the directory has more by now. */
  #more = 0;

  get count(): number {
    return this.#changes.length;
  }

  set(name: ByteString, before: Entry | undefined, after: Entry | undefined): void {
    if (before === after) return;
    this.#changes.push([name, after && named(after, name)]);
    this.#more += (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
  }

  /** Entries of the directory after the changes. */
  sizeOf(directory: Entry | undefined): number {
    return (isDirectory(directory) ? directory.size : 0) + this.#more;
  }

  /** Whether more than what is in subdirectories changes: then the directory's time does, too. */
  get names(): boolean {
    return this.#changes.some(([, entry]) => !isDirectory(entry));
  }

  /**
   * The directory after the changes. `equals`: other directories, to which it may have become equal: it shares their
   * objects then.
   */
  apply(
    source: Source,
    sink: Sink,
    directory: DirectoryEntry,
    equals: readonly (Entry | undefined)[] = [],
  ): DirectoryEntry {
    if (this.#changes.length === 0) return directory;
    const keys = equals.flatMap((entry) => (isDirectory(entry) ? entry.key : []));
    const listed = patchDirectory(source, sharing(source, sink, keys), directory.key, this.#changes);
    return { ...directory, ...listed };
  }
}

/** Of base, the sandbox and head. */
export interface ChangesOfThree {
  readonly b: Changes;
  readonly m: Changes;
  readonly h: Changes;
}

/** A directory with the attributes of an entry and nothing in it. */
export function emptied(entry: Entry): DirectoryEntry {
  return { ...entry, ...EMPTY_DIRECTORY, target: undefined, rdev: undefined, holes: undefined, agentText: false };
}
