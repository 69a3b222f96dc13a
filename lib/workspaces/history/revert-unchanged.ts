import { type ByteString, joinPath, ROOT_PATH } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { Errno } from '../../linux/errno.ts';
import { WHITEOUT } from '../delta/index/inode.ts';
import type { Op } from '../delta/index/records.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { LayeredNode } from '../nodes/layered-node.ts';
import { PathMemo } from '../nodes/path-memo.ts';
import type { ChangingBase } from '../workspaces.ts';
import { changesBelow } from './changes.ts';
import { type OwnEntry, ownEntries, type ReplacedDirectory } from './own-entries.ts';
import { revert } from './revert.ts';
import { comparedWithBase, mayBeAsInBase } from './same-as-base.ts';
import { showBase } from './show-base.ts';
import { removeUnusedDirectories } from './unused-directories.ts';

/** Entries examined in one step. */
const ITEMS_PER_STEP = 16;
/**
 * Limits of the comparison, in bytes for one file and for one change. The sandbox's programs, and the change of the
 * codebase, wait during the comparison: about 0.1 s for MAX_TOTAL in the page cache, some seconds on a slow disk. Files
 * beyond the limits stay in the delta.
 */
const MAX_FILE = 64 << 20;
const MAX_TOTAL = 256 << 20;
/** Limit of names and blocks of contents below directories that the sandbox created. */
const MAX_BELOW = 10_000;

interface Unchanged {
  /** Entries of the same type, mode and size as the base's. */
  entries: OwnEntry[];
  shown: ByteString[];
  equal: ByteString[];
  replaced: ReplacedDirectory[];
}

/** Whether `revertUnchanged` would have anything to do or to compare, in steps. Opens no file. */
export function* mayRevertUnchanged(workspace: LayeredWorkspace, changing: ChangingBase): Steps<boolean> {
  const { entries, shown, equal, replaced } = yield* mayBeUnchanged(workspace, changing);
  return entries.length + shown.length + equal.length + replaced.length > 0;
}

/**
 * Before the base changes: reverts the sandbox's own entries at these paths that are equal to the base (type, contents,
 * permission bits; absent in both). They are no changes, and would hide the new version and be in conflict with it. Open
 * files continue as those of the base do. Times that the sandbox set are lost. Returns the number of names.
 */
export function* revertUnchanged(workspace: LayeredWorkspace, changing: ChangingBase): Steps<number> {
  const { replaced } = yield* mayBeUnchanged(workspace, changing);
  const same: ByteString[] = [];
  const budget = { left: MAX_BELOW };
  for (const each of replaced) if (yield* isSameBelow(workspace, each, budget)) same.push(each.path);
  const names = same.length > 0 ? yield* revert(workspace, same) : 0;
  return names + (yield* workspace.delta.releasing(revertSame(workspace, changing)));
}

/** Whether a directory that the sandbox created equals the base's; it is reverted completely or not at all. */
function* isSameBelow(
  workspace: LayeredWorkspace,
  { path, inode }: ReplacedDirectory,
  budget: { left: number },
): Steps<boolean> {
  try {
    for (const change of changesBelow(workspace, path, inode, undefined, ROOT_PATH)) {
      if (change !== undefined || --budget.left < 0) return false;
      yield;
    }
  } catch (error) {
    if (error instanceof Errno) return false;
    throw error;
  }
  return true;
}

function* revertSame(workspace: LayeredWorkspace, changing: ChangingBase): Steps<number> {
  const { delta, tree } = workspace;
  const { entries, shown, equal } = yield* mayBeUnchanged(workspace, changing);
  const same: OwnEntry[] = [];
  let total = 0;
  for (const each of entries) {
    const size = each.entry === WHITEOUT ? 0 : each.entry.size;
    if (total + size > MAX_TOTAL) continue;
    total += size;
    // A small file is opened and read in one step, which may wait for the disk.
    yield;
    if (yield* isSame(workspace, each)) same.push(each);
  }
  const ops: Op[] = same.map(({ dir, name }) => ['drop', dir.id, name]);
  for (const path of [...same.map(({ basePath }) => basePath), ...shown, ...equal]) {
    if (delta.table.baseVersions.get(path) !== undefined) ops.push(['unseen', path]);
  }
  if (ops.length + equal.length === 0) return 0;
  if (ops.length > 0) yield* delta.committing(ops, true);
  const nodes = new PathMemo<LayeredNode | undefined>(tree.root, (above, name) => above?.children?.get(name));
  for (const { dirPath, name, entry, base } of same) {
    yield;
    const node = nodes.at(dirPath);
    if (node !== undefined) yield* showBase(workspace, node, name, { stat: base });
    if (entry !== WHITEOUT && entry.names === 0 && !tree.hasNode(entry)) delta.release(entry);
  }
  const reverted = same.map(({ dirPath, name }) => joinPath(dirPath, name));
  const above = [...reverted, ...equal];
  if (above.length > 0) yield* removeUnusedDirectories(workspace, above, 'always');
  return reverted.length;
}

function* mayBeUnchanged(workspace: LayeredWorkspace, changing: ChangingBase): Steps<Unchanged> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const own = yield* ownEntries(workspace, changing);
  const entries: OwnEntry[] = [];
  for (const each of own.entries) {
    const { entry, base } = each;
    const removed = entry === WHITEOUT;
    const maySame = removed || base === undefined ? removed && base === undefined : mayBeAsInBase(entry, base);
    if (maySame && (base === undefined || base.size <= MAX_FILE)) entries.push(each);
    if (counter.count()) yield;
  }
  const replaced = [...own.replaced].filter(({ inode, base }) => mayBeAsInBase(inode, base));
  return { entries, shown: own.shown, equal: own.equal, replaced };
}

function* isSame(workspace: LayeredWorkspace, { entry, basePath, base }: OwnEntry): Steps<boolean> {
  if (entry === WHITEOUT || base === undefined) return true;
  try {
    return yield* comparedWithBase(workspace, basePath, entry, base);
  } catch (error) {
    // An unreadable file stays in the delta.
    if (error instanceof Errno) return false;
    throw error;
  }
}
