import { ancestorsOf, type ByteString, parentOf, ROOT_PATH } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { isDirectory } from '../../linux/mode.ts';
import { Subtrees } from '../../subtrees.ts';
import type { Workspace } from '../workspace.ts';
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
  workspace: Workspace,
  paths: readonly ByteString[],
  keeping: Omit<ChangeSelection, 'paths'> = { exclude: [], scratch: true },
): Steps<number> {
  const { exclude, scratch } = keeping;
  if (exclude.length === 0 && (scratch || !workspace.rules.hasScratch)) return yield* revert(workspace, paths);
  return yield* revert(workspace, yield* topsOf(workspace, { paths, ...keeping }));
}

/** The paths to revert, each with everything below. */
function* topsOf(workspace: Workspace, selection: ChangeSelection): Steps<ByteString[]> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const chosen: Pick<WorkspaceChange, 'path' | 'now'>[] = [];
  const above = new Set<ByteString>();
  const gone = new Set<ByteString>();
  for (const change of changesOf(workspace, ROOT_PATH, { selection, withLeft: true })) {
    yield;
    if (change === undefined) continue;
    const { path, now, left } = change;
    if (left === undefined) chosen.push({ path, ...(now && { now }) });
    else {
      // The parents of a known directory are known, too.
      for (let at = parentOf(path); at !== ROOT_PATH && !above.has(at); at = parentOf(at)) above.add(at);
      if (left === 'scratch' && now === undefined) gone.add(path);
    }
  }
  const covered = new Subtrees(selection.paths);
  const whole = new Set<ByteString>();
  for (const { path, origin, replaces } of yield* renamedDirectories(workspace)) {
    if ((origin !== undefined || replaces) && (covered.has(path) || selection.paths.includes(ROOT_PATH)))
      whole.add(path);
  }
  const tops = new Set<ByteString>();
  for (const { path, now } of chosen) {
    if (counter.count()) yield;
    if (topIn(path, tops) !== undefined) continue;
    const top = topIn(path, whole) ?? topIn(path, gone);
    if (top !== undefined) tops.add(top);
    else if (now === undefined || !isDirectory(now.mode) || !above.has(path)) tops.add(path);
  }
  return [...tops];
}

/** The topmost of `tops` that is the path or contains it. */
function topIn(path: ByteString, tops: ReadonlySet<ByteString>): ByteString | undefined {
  if (tops.size === 0) return undefined;
  for (const parent of ancestorsOf(path)) if (tops.has(parent)) return parent;
  return tops.has(path) ? path : undefined;
}
