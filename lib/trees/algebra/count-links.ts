import { type ByteString, baseNameOf } from '../../byte-string.ts';
import { entryAt } from '../directory/find-entry.ts';
import type { Sink, Source } from '../directory/source.ts';
import { type Entry, identical, isDirectory, named } from '../format/entry.ts';
import type { Comparison } from './comparison.ts';
import { diff, type PathChange } from './diff.ts';
import { linkNames } from './link-names.ts';
import { replaceEntries } from './replace-entries.ts';

/**
 * A tree in which some names of linked files were replaced, added or removed: the names that each such file still has get
 * one entry again, with their count. That is the one that a name has got instead of another of the same number; a file
 * without such a name stays as it is. `others`: more names that files may have. Reads what changed, and only if names of
 * linked files did, the directories that have some.
 */
export function countLinks(
  comparison: Comparison,
  sink: Sink,
  before: Entry | undefined,
  after: Entry | undefined,
  others: ReadonlyMap<number, readonly ByteString[]> = new Map(),
): Entry | undefined {
  const { source } = comparison;
  const changes = new Map<ByteString, PathChange>();
  const numbers = new Map<number, Set<ByteString>>();
  for (const change of diff(comparison, before, after, { raw: true, enters: isLinked })) {
    for (const entry of [change.before, change.after])
      if (isLinked(entry) && !isDirectory(entry)) numbers.set(entry!.ino, new Set());
    changes.set(change.path, change);
  }
  if (after === undefined || numbers.size === 0) return after;
  for (const names of [linkNames(source, after), others])
    for (const [ino, paths] of names) for (const path of paths) numbers.get(ino)?.add(path);
  for (const { path, after: now } of changes.values()) if (now !== undefined) numbers.get(now.ino)?.add(path);
  const entries = new Map<ByteString, Entry>();
  for (const [ino, paths] of numbers) {
    const replaced = (path: ByteString) => changes.get(path)?.before?.ino === ino;
    for (const [path, entry] of ofOneFile(source, after, ino, paths, replaced)) entries.set(path, entry);
  }
  return entries.size === 0 ? after : replaceEntries(source, sink, after, entries);
}

/** Whether names of linked files are at an entry or below it. */
export function isLinked(entry: Entry | undefined): boolean {
  return isDirectory(entry) ? entry.totals.linked > 0 : entry !== undefined && entry.nlink > 1;
}

/** The entries that change so that the paths of a number name one file. */
function* ofOneFile(
  source: Source,
  tree: Entry,
  ino: number,
  paths: ReadonlySet<ByteString>,
  replaced: (path: ByteString) => boolean,
): Generator<[ByteString, Entry]> {
  const names = [...paths].flatMap((path) => {
    const entry = entryAt(source, tree, path);
    return entry?.ino === ino ? [{ path, entry }] : [];
  });
  const { entry: file } = names.find(({ path }) => replaced(path)) ?? names[0] ?? {};
  for (const { path, entry } of names) {
    const counted = { ...named(file!, baseNameOf(path)), nlink: names.length };
    if (!identical(counted, entry)) yield [path, counted];
  }
}
