import type { ByteString } from '../byte-string.ts';
import type { Steps } from '../fuse/connection/steps.ts';
import { Postponed } from '../fuse/filesystem.ts';
import type { AttachedWorkspaces } from './attached-workspaces.ts';
import { baseChanged, baseChanging } from './base/base-changes.ts';
import { beginningChange, endRemoval } from './beginning-change.ts';
import type { LongOperations } from './calls.ts';
import { changePages } from './history/changes.ts';
import { requireRoom } from './history/checkpoint-room.ts';
import { requireForkRoom } from './history/fork-room.ts';
import { hasEntries } from './history/has-entries.ts';
import { ownPathFilter } from './history/own-entries.ts';
import type { PathFilter } from './history/path-filter.ts';
import { preserveRemoved } from './history/preserve-removed.ts';
import { rebase } from './history/rebase.ts';
import { redactedTexts } from './history/redacted-texts.ts';
import { revertSelected } from './history/revert-selected.ts';
import { mayRevertUnchanged, revertUnchanged } from './history/revert-unchanged.ts';
import { rollback } from './history/rollback.ts';
import { stepsOnHost } from './host-disk-errors.ts';
import { type LayeredWorkspace, requireLayered } from './layered-workspace.ts';
import { requireNotHeld } from './pause.ts';
import type { ChangingBase, FoundUnchanged, Frozen, RebaseStage } from './workspaces.ts';

/** Contents that one call of `compact` moves while the sandbox waits: some tenths of a second. */
const MAX_MOVED = 2000;

/** The long operations that only workspaces of deltas over bases have. */
export function layeredOperations(workspaces: AttachedWorkspaces): LongOperations {
  const { holds } = workspaces;
  const held = <T>(id: string, act: (workspace: LayeredWorkspace) => Steps<T>): Steps<T> => {
    const workspace = requireLayered(workspaces.get(id));
    return holds.holdOpen(workspace, act(workspace));
  };
  const heldOf: HeldOf = (codebaseId, first, act) => {
    const all = workspaces.ofCodebase(codebaseId).map(requireLayered);
    all.forEach(requireNotHeld);
    return holds.holdAll(all, eachInTurn(workspaces, all, first, act));
  };
  return {
    changes: (id, after, limit, asked) => held(id, (workspace) => changePages(workspace, after, limit, asked)),
    redactedTexts: (id, path, as) => held(id, (workspace) => redactedTexts(workspace, path, as)),
    hasEntries: (id) => held(id, hasEntries),
    baseChanging: (codebaseId, paths, commit, removed = []) =>
      heldOf(codebaseId, beginningChange(workspaces, codebaseId, { paths, removed }, commit?.id), (workspace) =>
        baseChanging(workspace, paths, commit?.id === workspace.spec.id ? commit.added : undefined),
      ),
    baseChanged: (codebaseId, paths) => changedBase(workspaces, codebaseId, paths, heldOf),
    revert: (id, paths, keeping) => held(id, (workspace) => revertSelected(workspace, paths, keeping)),
    rebase: (spec, stage) =>
      endingRemoval(
        workspaces,
        spec.codebaseId,
        workspaces.lease(
          spec,
          (workspace) => rebasing(workspaces, requireLayered(workspace), stage),
          (leased) => awaitRebase(requireLayered(leased), stage),
        ),
      ),
    preserveRemoved: (spec, paths) =>
      workspaces.lease(spec, (workspace) => preserveRemoved(requireLayered(workspace), paths)),
    findUnchanged: (codebaseId, changing, except) => {
      const open = workspaces
        .ofCodebase(codebaseId)
        .map(requireLayered)
        .filter(({ isOpen, spec }) => isOpen && spec.id !== except);
      // Programs of sandboxes without changes need not wait.
      const changed = open.filter(({ delta }) => delta.inodes > 0);
      changed.forEach(requireNotHeld);
      return holds.holdSame(changed, findUnchanged(workspaces, open, changing));
    },
    revertUnchanged: (spec, changing, listed) =>
      workspaces.lease(spec, (workspace) =>
        stepsOnHost(revertingUnchanged(requireLayered(workspace), changing, listed)),
      ),
    freeze: (id, limited = false) => held(id, (workspace) => freezing(workspace, limited)),
    requireForkRoom: (id, checkpoint) => held(id, (workspace) => requireForkRoom(workspace, checkpoint)),
    compact: (id, layers, limit = MAX_MOVED) =>
      held(id, (workspace) => compacting(workspaces, workspace, layers, limit)),
    rollback: (id, layer) => held(id, (workspace) => stepsOnHost(rollback(workspace, layer))),
  };
}

/** Runs the steps of `first`, then those of each workspace of a codebase, with all of them held. Returns the result of `first`. */
type HeldOf = <T>(
  codebaseId: string,
  first: Steps<T>,
  act: (workspace: LayeredWorkspace, found: T) => Steps<void>,
) => Steps<T>;

function changedBase(
  workspaces: AttachedWorkspaces,
  codebaseId: string,
  paths: readonly ByteString[],
  heldOf: HeldOf,
): Steps<void> {
  let fitted: ReadonlySet<LayeredWorkspace>;
  const end = workspaces.bases.endChange(codebaseId, paths, () => {
    fitted = unfitted(workspaces.ofCodebase(codebaseId).map(requireLayered));
    endRemoval(workspaces, codebaseId);
  });
  return ignoring(
    heldOf(codebaseId, end, (workspace, kept) => baseChanged(workspace, { paths, kept }, fitted.has(workspace))),
  );
}

function* ignoring(steps: Steps<unknown>): Steps<void> {
  yield* steps;
}

/** A failure ends the removal, also one to open the workspace: its answer may wait for notifications. */
function* endingRemoval(workspaces: AttachedWorkspaces, codebaseId: string, steps: Steps<void>): Steps<void> {
  try {
    yield* steps;
  } catch (error) {
    if (!(error instanceof Postponed)) endRemoval(workspaces, codebaseId);
    throw error;
  }
}

/** If it ends an earlier server's commit. */
function awaitRebase(workspace: LayeredWorkspace, { resumed }: RebaseStage): void {
  workspace.awaitsRebase ||= resumed && !workspace.isOpen;
}

/** After the last stage, programs see the base as it was committed. */
function* rebasing(workspaces: AttachedWorkspaces, workspace: LayeredWorkspace, stage: RebaseStage): Steps<void> {
  try {
    yield* stepsOnHost(rebase(workspace, stage));
  } catch (error) {
    if (!(error instanceof Postponed)) workspaces.holds.resume(workspace);
    throw error;
  }
  if (!stage.isLast) return;
  endRemoval(workspaces, workspace.spec.codebaseId);
  workspaces.holds.resume(workspace);
}

/** Returns those that fitted. An error at one of them keeps the others from being told of the change. */
function unfitted(workspaces: readonly LayeredWorkspace[]): Set<LayeredWorkspace> {
  const fitted = workspaces.filter(({ fittedTo }) => fittedTo !== undefined);
  for (const workspace of fitted) workspace.fittedTo = undefined;
  return new Set(fitted);
}

/** Runs the steps of `first`, then those of each workspace in turn. Returns the result of `first`. */
function* eachInTurn<T>(
  { holds }: AttachedWorkspaces,
  workspaces: readonly LayeredWorkspace[],
  first: Steps<T>,
  act: (workspace: LayeredWorkspace, found: T) => Steps<void>,
): Steps<T> {
  const found = yield* first;
  for (const workspace of workspaces) yield* holds.forOne(workspace, act(workspace, found));
  return found;
}

function* findUnchanged(
  { holds }: AttachedWorkspaces,
  workspaces: readonly LayeredWorkspace[],
  changing: ChangingBase,
): Steps<FoundUnchanged> {
  const candidates: string[] = [];
  for (const workspace of workspaces) {
    if (yield* holds.forOne(workspace, mayRevertUnchanged(workspace, changing))) candidates.push(workspace.spec.id);
  }
  return { open: workspaces.map(({ spec }) => spec.id), candidates };
}

function* revertingUnchanged(
  workspace: LayeredWorkspace,
  changing: ChangingBase,
  listed: boolean,
): Steps<PathFilter | undefined> {
  yield* revertUnchanged(workspace, changing);
  return listed ? yield* ownPathFilter(workspace) : undefined;
}

function* freezing(workspace: LayeredWorkspace, limited: boolean): Steps<Frozen> {
  const { delta } = workspace;
  if (limited) requireRoom(workspace);
  const layer = yield* stepsOnHost(delta.layers.freezing(workspace.fittedTo));
  return { layer, files: delta.inodes, bytes: delta.bytes };
}

function compacting(
  { files }: AttachedWorkspaces,
  { delta, tree }: LayeredWorkspace,
  layers: readonly string[],
  limit: number,
): Steps<'more' | 'done' | 'kept'> {
  return delta.layers.compacting(layers, limit, (inode) => {
    const node = tree.nodeOf(inode);
    if (node !== undefined) files.close(node);
  });
}
