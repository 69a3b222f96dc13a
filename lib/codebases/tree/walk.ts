import { type ByteString, joinPath, ROOT_PATH } from '../../byte-string.ts';
import { entriesOf } from '../../trees/directory/entries.ts';
import type { Source } from '../../trees/directory/source.ts';
import { type DirectoryEntry, type Entry, isDirectory } from '../../trees/format/entry.ts';

export interface Found {
  /** Relative to where the walk began. */
  readonly path: ByteString;
  readonly entry: Entry;
}

/** All entries below a directory: each directory, then what is in it, by ascending names. */
export function* walk(
  source: Source,
  top: DirectoryEntry,
  enters: (directory: DirectoryEntry) => boolean = () => true,
): Generator<Found, void, void> {
  // Not recursive: each entry would pass through as many generators as its path has names.
  const levels = enters(top) ? [{ path: ROOT_PATH, entries: entriesOf(source, top.key) }] : [];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const next = level.entries.next();
    if (next.done) {
      levels.pop();
      continue;
    }
    const entry = next.value;
    const path = joinPath(level.path, entry.name);
    yield { path, entry };
    if (isDirectory(entry) && enters(entry)) levels.push({ path, entries: entriesOf(source, entry.key) });
  }
}
