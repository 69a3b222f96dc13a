import type { ByteString } from '../../byte-string.ts';
import type { Comparison } from '../../trees/algebra/comparison.ts';
import { diff, type PathChange } from '../../trees/algebra/diff.ts';
import { type Entry, identical } from '../../trees/format/entry.ts';

export interface Change extends PathChange {
  /** The path at which base has the file or directory, if the sandbox has none there. */
  readonly renamedFrom: ByteString | undefined;
}

/** The changes of a sandbox, a directory before what is in it. A file that was moved has its number still. */
export function* listChanges(comparison: Comparison, base: Entry, mine: Entry): Generator<Change, void, void> {
  if (identical(base, mine)) return;
  const removed = new Map<number, PathChange>();
  for (const change of diff(comparison, base, mine, { raw: true })) {
    const { before, after } = change;
    if (before !== undefined && before.nlink === 1 && before.ino !== after?.ino) removed.set(before.ino, change);
  }
  for (const change of diff(comparison, base, mine)) {
    const { before, after } = change;
    const from = after === undefined || after.ino === before?.ino ? undefined : removed.get(after.ino);
    yield { ...change, renamedFrom: from?.before?.type === after?.type ? from?.path : undefined };
  }
}
