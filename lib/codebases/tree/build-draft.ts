import { patchDirectory } from '../../trees/directory/patch-directory.ts';
import type { Change } from '../../trees/directory/pieces.ts';
import type { Sink, Source } from '../../trees/directory/source.ts';
import { type DirectoryEntry, type Entry, named } from '../../trees/format/entry.ts';
import { type Draft, DraftDirectory } from './draft.ts';
import { type DraftChange, sortChanges } from './sort-changes.ts';

/** Names of a directory that are changed in one step: some milliseconds. */
const STEP = 512;

/** A directory on the way down. Not recursive: a path may have 2,048 names. */
interface Level {
  readonly directory: DraftDirectory;
  readonly changes: readonly DraftChange[];
  next: number;
  /** With the changes before `next`, but for those in `patch`. */
  entry: DirectoryEntry;
  patch: Change<Entry>[];
}

/**
 * The objects of all changed directories, from the bottom up. Returns the root; the draft begins anew with it, so
 * directories of the draft that were entered before are of no use any more.
 */
export function* buildDraft(source: Source, sink: Sink, draft: Draft): Generator<void, DirectoryEntry, void> {
  const levels = [yield* levelOf(draft.root)];
  for (;;) {
    const level = levels.at(-1)!;
    const below = takeUpTo(level);
    if (below !== undefined) {
      levels.push(yield* levelOf(below));
      continue;
    }
    if (level.patch.length > 0) {
      level.entry = { ...level.entry, ...patchDirectory(source, sink, level.entry.key, level.patch) };
      level.patch = [];
      yield;
    }
    if (level.next < level.changes.length) continue;
    levels.pop();
    const above = levels.at(-1);
    if (above === undefined) {
      draft.replace(level.entry);
      return level.entry;
    }
    above.patch.push([above.changes[above.next - 1]![0], level.entry]);
  }
}

function* levelOf(directory: DraftDirectory): Generator<void, Level, void> {
  const changes = yield* sortChanges(directory.changes);
  return { directory, changes, next: 0, entry: directory.attributes, patch: [] };
}

/** Takes changes until the patch is full, or a directory comes that has changes itself. */
function takeUpTo(level: Level): DraftDirectory | undefined {
  while (level.next < level.changes.length && level.patch.length < STEP) {
    const [name, node] = level.changes[level.next++]!;
    if (!(node instanceof DraftDirectory)) level.patch.push([name, node && named(node, name)]);
    else if (node.changes.size > 0) return node;
    else level.patch.push([name, node.attributes]);
  }
  return undefined;
}
