import { type ByteString, baseNameOf, parentOf, splitPath } from '../../byte-string.ts';
import type { Sink, Source } from '../../trees/directory/source.ts';
import type { DirectoryEntry, Entry, Time } from '../../trees/format/entry.ts';
import { buildDraft } from './build-draft.ts';
import { Draft } from './draft.ts';
import { changedAt } from './new-entry.ts';
import { reach } from './reach.ts';
import { walk } from './walk.ts';

/** Entries that are looked at in one step. */
const STEP = 256;

/** The tree with the right count in each name of a file that had several names when it got that name. */
export function* settleLinks(
  source: Source,
  sink: Sink,
  root: DirectoryEntry,
  time: Time,
): Generator<void, DirectoryEntry, void> {
  const names = new Map<number, { path: ByteString; entry: Entry }[]>();
  let looked = 0;
  for (const found of walk(source, root, (directory) => directory.totals.linked > 0)) {
    if (++looked % STEP === 0) yield;
    if (found.entry.nlink === 1) continue;
    const { ino } = found.entry;
    const known = names.get(ino);
    if (known === undefined) names.set(ino, [found]);
    else known.push(found);
  }
  const draft = new Draft(source, root);
  let changed = 0;
  for (const found of names.values()) {
    for (const { path, entry } of found) {
      if (entry.nlink === found.length) continue;
      const directory = reach(draft, splitPath(parentOf(path))).at(-1)!;
      draft.set(directory, baseNameOf(path), entry, { ...entry, nlink: found.length, ...changedAt(time) });
      if (++changed % STEP === 0) yield;
    }
  }
  return changed === 0 ? root : yield* buildDraft(source, sink, draft);
}
