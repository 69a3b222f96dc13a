import { findEntry } from '../../../trees/directory/find-entry.ts';
import type { Source } from '../../../trees/directory/source.ts';
import { type Entry, isDirectory } from '../../../trees/format/entry.ts';
import { NO_KEY } from '../../../trees/format/keys.ts';
import { type Item, OwnDirectory, OwnFile } from '../items.ts';

/**
 * Whether the sandbox has what base has, so that head's entry may replace it: by keys alone, times and numbers do not count.
 * A file of several names is never unchanged.
 */
export function isUnchanged(source: Source, item: Item | undefined, base: Entry | undefined): boolean {
  if (item === undefined || base === undefined) return item === base;
  if (!(item instanceof OwnDirectory)) return alike(item instanceof OwnFile ? item.entry : item, base);
  const pairs: [OwnDirectory, Entry][] = [[item, base]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [dir, was] = pair;
    // An empty one has no object when it is frozen, whatever is below its patch now.
    const empty = dir.size === 0;
    if (!isDirectory(was) || !alike(empty ? { ...dir.entry, key: NO_KEY } : dir.entry, was)) return false;
    if (empty) continue;
    for (const [name, own] of dir.patch) {
      const before = findEntry(source, was.key, name);
      if (own instanceof OwnDirectory && before !== undefined) pairs.push([own, before]);
      else if (!isUnchanged(source, own ?? undefined, before)) return false;
    }
  }
  return true;
}

function alike(a: Entry, b: Entry): boolean {
  if (a.type !== b.type || a.mode !== b.mode || a.key !== b.key || a.nlink !== 1) return false;
  return a.target === b.target && a.rdev === b.rdev;
}
