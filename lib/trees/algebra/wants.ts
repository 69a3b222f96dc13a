import { differences } from '../directory/differences.ts';
import { childOf } from '../directory/find-entry.ts';
import { type Entry, identical, isDirectory } from '../format/entry.ts';
import { type Key, NO_KEY } from '../format/keys.ts';
import type { Comparison } from './comparison.ts';

/**
 * The contents in a sandbox's store that are to be hashed before `follow` and `commit`, so that these know what is equal, by
 * their keys, each with a file that has them: those of a file that differs from another one in its place but has the same size. Others differ at sight.
 */
export function wants(
  comparison: Comparison,
  base: Entry | undefined,
  mine: Entry | undefined,
  head: Entry | undefined,
): Map<Key, Entry> {
  const wanted = new Map<Key, Entry>();
  const stack = [[base, mine, head]];
  for (let trees = stack.pop(); trees !== undefined; trees = stack.pop()) {
    const [b, m, h] = trees;
    // What the sandbox has not changed is head's in any case.
    if (identical(b, m)) continue;
    for (const [x, y] of [
      [b, m],
      [m, h],
      [b, h],
    ])
      for (const entry of comparison.unknown(x, y)) wanted.set(entry.key, entry);
    const [left, right] = [b, m].map((entry) => (isDirectory(entry) ? entry.key : NO_KEY));
    for (const { name, a, b: other } of differences(comparison.source, left!, right!))
      stack.push([a, other, childOf(comparison.source, h, name)]);
  }
  return wanted;
}
