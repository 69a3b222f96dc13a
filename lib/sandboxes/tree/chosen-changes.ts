import type { Contents } from '../../codebases/totals.ts';
import type { Choice } from '../../trees/algebra/choice.ts';
import type { Trees } from '../../trees/algebra/commit-options.ts';
import type { Comparison } from '../../trees/algebra/comparison.ts';
import { diff, type PathChange } from '../../trees/algebra/diff.ts';
import { entryAt } from '../../trees/directory/find-entry.ts';
import { type Entry, isDirectory, TYPE } from '../../trees/format/entry.ts';

/** The changes of a sandbox that are chosen and can be in a codebase. */
export function* chosenChanges(
  comparison: Comparison,
  { base, mine }: Trees,
  choice: Choice,
): Generator<PathChange, void, void> {
  for (const change of diff(comparison, base, mine)) {
    const { path, after } = change;
    if (choice.has(path) && (after?.type ?? TYPE.file) <= TYPE.symlink) yield change;
  }
}

/** What head grows by if it gets these. */
export function growthOf(comparison: Comparison, head: Entry | undefined, changes: readonly PathChange[]): Contents {
  const growth = { files: 0, bytes: 0, directories: 0 };
  for (const { path, after } of changes) {
    count(growth, entryAt(comparison.source, head, path), -1);
    count(growth, after, 1);
  }
  return growth;
}

function count(growth: Contents, entry: Entry | undefined, times: 1 | -1): void {
  if (entry === undefined) return;
  if (isDirectory(entry)) {
    growth.directories += times;
    return;
  }
  growth.files += times;
  growth.bytes += times * entry.size;
}
