import type { ByteString } from '../../byte-string.ts';
import { entryAt } from '../directory/find-entry.ts';
import type { Sink } from '../directory/source.ts';
import { type Entry, isDirectory } from '../format/entry.ts';
import type { Comparison } from './comparison.ts';
import { countLinks } from './count-links.ts';
import { diff } from './diff.ts';
import { linkNames } from './link-names.ts';
import { replaceEntries } from './replace-entries.ts';

export interface OwnNumbers {
  readonly comparison: Comparison;
  readonly sink: Sink;
  /** A number that the codebase has never given. */
  readonly next: () => number;
}

interface Brought {
  readonly entry: Entry;
  /** The path had another number, or none. */
  readonly arrived: boolean;
}

/**
 * A sandbox's tree `now`, after entries of head have come into the tree `was` that it had. What comes gets a new number if
 * the sandbox has that number elsewhere: it has renamed the file, and programs may have it open. So does a name of a linked
 * file if the sandbox has other contents at the other names.
 */
export function withOwnNumbers(
  { comparison, sink, next }: OwnNumbers,
  head: Entry | undefined,
  was: Entry | undefined,
  now: Entry | undefined,
): Entry | undefined {
  if (now === undefined) return undefined;
  const { source } = comparison;
  const brought = broughtFrom(comparison, head, was, now);
  const names = [linkNames(source, head), linkNames(source, now)];
  const renamed = numbersElsewhere(comparison, head, was, now, brought);
  const isOneFile = (entry: Entry) =>
    names.every((paths) =>
      (paths.get(entry.ino) ?? []).every((path) => {
        const other = entryAt(source, now, path);
        return other?.ino !== entry.ino || comparison.alike(other, entry);
      }),
    );
  const renewed = new Map<ByteString, Entry>();
  for (const [path, { entry, arrived }] of brought)
    if ((arrived && renamed.has(entry.ino)) || !isOneFile(entry))
      renewed.set(path, { ...entry, ino: next(), nlink: 1 });
  return countLinks(comparison, sink, was, replaceEntries(source, sink, now, renewed), names[0]);
}

/** The entries of head that `now` has instead of others, by their paths. */
function broughtFrom(
  comparison: Comparison,
  head: Entry | undefined,
  was: Entry | undefined,
  now: Entry,
): ReadonlyMap<ByteString, Brought> {
  const brought = new Map<ByteString, Brought>();
  for (const { path, before, after } of diff(comparison, was, now, { raw: true })) {
    if (after === undefined) continue;
    const arrived = after.ino !== before?.ino;
    const linked = !isDirectory(after) && Math.max(after.nlink, before?.nlink ?? 1) > 1;
    if (arrived || (linked && entryAt(comparison.source, head, path)?.ino === after.ino))
      brought.set(path, { entry: after, arrived });
  }
  return brought;
}

/** The numbers that came and that the sandbox had at other paths than head, and still has. */
function numbersElsewhere(
  comparison: Comparison,
  head: Entry | undefined,
  was: Entry | undefined,
  now: Entry,
  brought: ReadonlyMap<ByteString, Brought>,
): ReadonlySet<number> {
  const elsewhere = new Set<number>();
  const wanted = new Set(Array.from(brought.values(), ({ entry, arrived }) => (arrived ? entry.ino : undefined)));
  if (wanted.size === 0) return elsewhere;
  for (const { path, before, after } of diff(comparison, head, was, { raw: true }))
    if (after !== undefined && after.ino !== before?.ino && wanted.has(after.ino))
      if (entryAt(comparison.source, now, path)?.ino === after.ino) elsewhere.add(after.ino);
  return elsewhere;
}
