import { ancestorsOf, type ByteString, parentOf, ROOT_PATH } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { isDirectory } from '../../linux/mode.ts';
import { Subtrees } from '../../subtrees.ts';
import { dividedIfLarge, type LargeMap } from '../delta/index/divided-map.ts';
import { DividedList } from '../divided-list.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { ChangeSelection, WorkspaceChange } from '../workspaces.ts';
import { changesOf } from './changes.ts';
import { renamedDirectories } from './renamed-directories.ts';
import { revert } from './revert.ts';

/** Changes examined in one step. */
const ITEMS_PER_STEP = 64;

/**
 * Reverts paths. Scratch and excluded paths keep what they have, and so do the directories that hold
 * them, except in a directory that the sandbox renamed or replaced: it has only one version in the base. Throws as
 * `revert`.
 */
export function* revertSelected(
  workspace: LayeredWorkspace,
  paths: readonly ByteString[],
  keeping: Omit<ChangeSelection, 'paths'> = { exclude: [], scratch: true },
): Steps<number> {
  const { exclude, scratch } = keeping;
  if (exclude.length === 0 && (scratch || !workspace.rules.hasScratch)) return yield* revert(workspace, paths);
  return yield* revert(workspace, yield* topsOf(workspace, { paths, ...keeping }));
}

/** Of a million paths without a step that handles all of them. */
type Paths = LargeMap<ByteString, true>;

/** The paths to revert, each with everything below. */
function* topsOf(workspace: LayeredWorkspace, selection: ChangeSelection): Steps<Iterable<ByteString>> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const chosen = new DividedList<Pick<WorkspaceChange, 'path' | 'now'>>();
  let above: Paths = new Map();
  let gone: Paths = new Map();
  for (const change of changesOf(workspace, ROOT_PATH, { selection, withLeft: true })) {
    yield;
    if (change === undefined) continue;
    const { path, now, left } = change;
    if (left === undefined) chosen.push({ path, ...(now && { now }) });
    else {
      // The parents of a known directory are known, too.
      for (let at = parentOf(path); at !== ROOT_PATH && !above.has(at); at = parentOf(at)) {
        above = dividedIfLarge(above).set(at, true);
      }
      if (left === 'scratch' && now === undefined) gone = dividedIfLarge(gone).set(path, true);
    }
  }
  const covered = new Subtrees(selection.paths);
  let whole: Paths = new Map();
  for (const { path, origin, replaces } of yield* renamedDirectories(workspace)) {
    if ((origin !== undefined || replaces) && (covered.has(path) || selection.paths.includes(ROOT_PATH)))
      whole = dividedIfLarge(whole).set(path, true);
  }
  let tops: Paths = new Map();
  for (const { path, now } of chosen) {
    if (counter.count()) yield;
    if (topIn(path, tops) !== undefined) continue;
    const top = topIn(path, whole) ?? topIn(path, gone);
    const keepsSome = now !== undefined && isDirectory(now.mode) && above.has(path);
    if (top !== undefined || !keepsSome) tops = dividedIfLarge(tops).set(top ?? path, true);
  }
  return tops.keys();
}

/** The topmost of `tops` that is the path or contains it. */
function topIn(path: ByteString, tops: Paths): ByteString | undefined {
  if (tops.size === 0) return undefined;
  for (const parent of ancestorsOf(path)) if (tops.has(parent)) return parent;
  return tops.has(path) ? path : undefined;
}
