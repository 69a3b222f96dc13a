import { type ByteString, joinPath, ROOT_PATH } from '../../byte-string.ts';
import { differences } from '../directory/differences.ts';
import type { Sink } from '../directory/source.ts';
import { type Entry, isDirectory } from '../format/entry.ts';
import { NO_KEY } from '../format/keys.ts';
import { Blocked } from './blocked.ts';
import { Changes, emptied } from './changed-directory.ts';
import type { Choice } from './choice.ts';
import type { Comparison } from './comparison.ts';
import { countLinks } from './count-links.ts';
import { run, type Steps } from './steps.ts';

export interface RestoreOptions {
  readonly comparison: Comparison;
  readonly sink: Sink;
  readonly choice: Choice;
  /** A number that the codebase has never given. */
  readonly next: () => number;
}

/**
 * Head with the entries of an old version at the chosen paths. What is the same stays head's; what comes back gets new
 * numbers, because sandboxes may have renamed the files that had the old ones. Throws Blocked at a path that
 * is not chosen where the directory of something chosen would have to be, or at a directory with something not chosen where
 * the old version has a file.
 */
export function restore(
  options: RestoreOptions,
  head: Entry | undefined,
  version: Entry | undefined,
): Entry | undefined {
  const restored = run(restoredAt(options, ROOT_PATH, head, version));
  return countLinks(options.comparison, options.sink, head, restored);
}

function* restoredAt(
  options: RestoreOptions,
  path: ByteString,
  h: Entry | undefined,
  v: Entry | undefined,
): Steps<Entry | undefined> {
  const { choice, comparison } = options;
  const here = choice.has(path);
  if (!here && !choice.below(path)) return h;
  if (comparison.same(h, v)) return h;
  if (!isDirectory(h) && !isDirectory(v)) return here ? renewed(options, v) : h;
  const changes = yield* childrenOf(options, path, h, v);
  if (isDirectory(h)) {
    const now = changes.apply(comparison.source, options.sink, h, [v]);
    if (isDirectory(v)) return here ? { ...now, mode: v.mode } : now;
    if (!here) return now;
    if (now.size > 0) {
      if (v === undefined) return now;
      throw new Blocked(path);
    }
    return renewed(options, v);
  }
  if (!here && changes.count === 0) return h;
  if (!here && h !== undefined) throw new Blocked(path);
  return changes.apply(comparison.source, options.sink, renewed(options, emptied(v!)));
}

function renewed<E extends Entry | undefined>({ next }: RestoreOptions, entry: E): E {
  return entry && { ...entry, ino: next(), nlink: 1 };
}

function* childrenOf(
  options: RestoreOptions,
  path: ByteString,
  h: Entry | undefined,
  v: Entry | undefined,
): Generator<Steps<Entry | undefined>, Changes, Entry | undefined> {
  const changes = new Changes();
  const [now, old] = [h, v].map((entry) => (isDirectory(entry) ? entry.key : NO_KEY));
  for (const { name, a, b } of differences(options.comparison.source, now!, old!))
    changes.set(name, a, yield restoredAt(options, joinPath(path, name), a, b));
  return changes;
}
