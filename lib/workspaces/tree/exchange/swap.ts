import { mergedAttributes, mergedModes } from '../../../trees/algebra/follow.ts';
import { findEntry } from '../../../trees/directory/find-entry.ts';
import { type DirectoryEntry, identical, isDirectory } from '../../../trees/format/entry.ts';
import type { Key } from '../../../trees/format/keys.ts';
import { OwnDirectory } from '../items.ts';
import type { LiveTree } from '../live-tree.ts';

interface Pair {
  readonly dir: OwnDirectory;
  readonly from: DirectoryEntry;
  readonly to: DirectoryEntry;
}

/**
 * Another frozen tree below what has changed since the tree was frozen as `from`. Answers undefined if a name of a patch is
 * at an entry that differs between the two; else with what does it, which cannot fail. After a `take` the answer would depend
 * on which directories are own, and a replay has only those that changed.
 */
export function planSwap(tree: LiveTree, from: Key, to: DirectoryEntry): (() => void) | undefined {
  const { root, source, counters, frozen } = tree;
  if (frozen.key !== from || tree.hasTaken) return undefined;
  const rebased: [OwnDirectory, DirectoryEntry][] = [];
  const pairs: Pair[] = [{ dir: root, from: frozen, to }];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const { dir, from: was, to: now } = pair;
    if (dir.entry.key !== was.key) return undefined;
    const modes = mergedModes(was, dir.entry, now);
    if (modes.b !== now.mode) return undefined;
    const { key, size, totals } = now;
    rebased.push([dir, { ...mergedAttributes(was, dir.entry, now, modes.m), key, size, totals }]);
    if (was.key === key) continue;
    for (const [name, item] of dir.patch) {
      const [x, y] = [findEntry(source, was.key, name), findEntry(source, key, name)];
      if (identical(x, y)) continue;
      if (!(item instanceof OwnDirectory) || !isDirectory(x) || !isDirectory(y)) return undefined;
      pairs.push({ dir: item, from: x, to: y });
    }
  }
  return () => {
    for (const [dir, entry] of rebased) dir.rebase(entry);
    counters.exchange(frozen.totals, to.totals);
    tree.frozen = to;
    tree.generation++;
    tree.linkPaths.forget();
  };
}
