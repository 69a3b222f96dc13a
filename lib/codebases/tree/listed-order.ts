import { type ByteString, fromLatin1, joinPath, ROOT_PATH, sliceOf, withSlash } from '../../byte-string.ts';
import { entriesOf } from '../../trees/directory/entries.ts';
import { findEntry } from '../../trees/directory/find-entry.ts';
import type { Source } from '../../trees/directory/source.ts';
import { type DirectoryEntry, type Entry, isDirectory } from '../../trees/format/entry.ts';
import type { Key } from '../../trees/format/keys.ts';
import type { Found } from './walk.ts';

interface Start {
  /** Of the directory, from the root of the codebase. */
  readonly path: ByteString;
  readonly recursive: boolean;
  /** Only what comes after this path. */
  readonly after: ByteString;
}

/**
 * What is below a directory, in byte order of the paths: `a`, `a.txt`, `a/b`. What comes before the start is not read, but for
 * the way to it.
 */
export function* inListedOrder(
  source: Source,
  top: DirectoryEntry,
  { path, recursive, after }: Start,
): Generator<Found, void, void> {
  const levels = [new Level(source, path, top.key, recursive, after)];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const next = level.next();
    if (next === undefined) levels.pop();
    else if ('below' in next) levels.push(new Level(source, next.below, next.key, true, after));
    else yield next;
  }
}

/** The entries of one directory. What is in a subdirectory comes after the names that sort between its name and its slash. */
class Level {
  readonly #path: ByteString;
  readonly #recursive: boolean;
  readonly #entries: Iterator<Entry>;
  /** Directories that were passed, and are to be entered: the last one first, because its name begins with those before. */
  readonly #passed: DirectoryEntry[] = [];
  #coming: Entry | undefined;

  constructor(source: Source, path: ByteString, key: Key, recursive: boolean, after: ByteString) {
    this.#path = path;
    this.#recursive = recursive;
    const prefix = path === ROOT_PATH ? '' : withSlash(path);
    const isWithin = after.startsWith(prefix) && after.length > prefix.length;
    const start = isWithin ? sliceOf(after, prefix.length) : undefined;
    if (start !== undefined && recursive) this.#passBefore(source, key, firstName(start));
    this.#entries = entriesOf(source, key, start);
    this.#advance();
  }

  next(): Found | { below: ByteString; key: Key } | undefined {
    const passed = this.#passed.at(-1);
    const entry = this.#coming;
    if (passed !== undefined && (entry === undefined || withSlash(passed.name) < entry.name)) {
      this.#passed.pop();
      return { below: joinPath(this.#path, passed.name), key: passed.key };
    }
    if (entry === undefined) return undefined;
    this.#advance();
    if (this.#recursive && isDirectory(entry)) this.#passed.push(entry);
    return { path: joinPath(this.#path, entry.name), entry };
  }

  /** Directories whose own entry is not after the start, but what is in them may be: their names are its beginnings. */
  #passBefore(source: Source, key: Key, start: ByteString): void {
    for (let length = 1; length <= start.length; length++) {
      if (length < start.length && start.charAt(length) >= '/') continue;
      const entry = findEntry(source, key, sliceOf(start, 0, length));
      if (isDirectory(entry)) this.#passed.push(entry);
    }
  }

  #advance(): void {
    const { done, value } = this.#entries.next();
    this.#coming = done ? undefined : value;
  }
}

function firstName(path: ByteString): ByteString {
  const slash = path.indexOf('/');
  return slash < 0 ? path : fromLatin1(path.slice(0, slash));
}
