import type { ByteString } from '../byte-string.ts';
import type { Steps } from '../fuse/connection/steps.ts';
import { Postponed } from '../fuse/filesystem.ts';
import { setRules } from './access/rule-changes.ts';
import type { AttachedWorkspaces } from './attached-workspaces.ts';
import { baseChanged, baseChanging } from './base/base-changes.ts';
import { beginningChange, endRemoval } from './beginning-change.ts';
import type { WorkspaceOperations } from './calls.ts';
import { beginFileOperation, fileOperationSteps, hasEffects, isLong } from './files/index.ts';
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
import { requireNotHeld, requireRunning } from './pause.ts';
import type { Workspace } from './workspace.ts';
import type { ChangingBase, FoundUnchanged, Frozen, RebaseStage } from './workspaces.ts';

/** Contents that one call of `compact` moves while the sandbox waits: some tenths of a second. */
const MAX_MOVED = 2000;

/**
 * The operations that may take long, as steps, between which other requests are served. The workspaces that one is about
 * are held until its steps are done. undefined: the method of that name does it at once.
 */
export type LongOperations = {
  readonly [O in keyof WorkspaceOperations]?: (
    ...args: Parameters<WorkspaceOperations[O]>
  ) => Steps<ReturnType<WorkspaceOperations[O]>> | undefined;
};

export function longOperations(workspaces: AttachedWorkspaces): LongOperations {
  const { holds } = workspaces;
  const held = <T>(id: string, act: (workspace: Workspace) => Steps<T>): Steps<T> => {
    const workspace = workspaces.get(id);
    return holds.holdOpen(workspace, act(workspace));
  };
  const heldOf: HeldOf = (codebaseId, first, act) => {
    const all = workspaces.ofCodebase(codebaseId);
    all.forEach(requireNotHeld);
    return holds.holdAll(all, eachInTurn(workspaces, all, first, act));
  };
  return {
    open: (id) => held(id, nothing),
    changes: (id, after, limit, asked) => held(id, (workspace) => changePages(workspace, after, limit, asked)),
    redactedTexts: (id, path, as) => held(id, (workspace) => redactedTexts(workspace, path, as)),
    hasEntries: (id) => held(id, hasEntries),
    detach: (id) => detaching(workspaces, workspaces.find(id)),
    setRules: (id, rules) => {
      // Its notifications could wait for the end of the pause, and those of all others behind them.
      const workspace = requireRunning(workspaces.get(id));
      return holds.hold(workspace, setRules(workspace, rules));
    },
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
        workspaces.lease(spec, (workspace) => rebasing(workspaces, workspace, stage), stage.resumed),
      ),
    preserveRemoved: (spec, paths) => workspaces.lease(spec, (workspace) => preserveRemoved(workspace, paths)),
    findUnchanged: (codebaseId, changing, except) => {
      const open = workspaces.ofCodebase(codebaseId).filter(({ isOpen, spec }) => isOpen && spec.id !== except);
      // Programs of sandboxes without changes need not wait.
      const changed = open.filter(({ delta }) => delta.inodes > 0);
      changed.forEach(requireNotHeld);
      return holds.holdSame(changed, findUnchanged(workspaces, open, changing));
    },
    revertUnchanged: (spec, changing, listed) =>
      workspaces.lease(spec, (workspace) => stepsOnHost(revertingUnchanged(workspace, changing, listed))),
    files: (id, actor, operation, args) => {
      if (!isLong(operation) && !hasEffects(operation)) return undefined;
      const workspace = requireRunning(workspaces.get(id));
      if (isLong(operation)) return held(id, () => fileOperationSteps(workspace, actor, operation, args));
      return holds.hold(workspace, beginFileOperation(workspace, actor, operation, args));
    },
    freeze: (id, limited = false) => held(id, (workspace) => freezing(workspace, limited)),
    requireForkRoom: (id, checkpoint) => held(id, (workspace) => requireForkRoom(workspace, checkpoint)),
    compact: (id, layers, limit = MAX_MOVED) =>
      held(id, (workspace) => compacting(workspaces, workspace, layers, limit)),
    toldNames: (id, directories) => held(id, (workspace) => workspaces.teller.toldNames(workspace, directories)),
    syncAll: () => syncingAll(workspaces),
    rollback: (id, layer) => held(id, (workspace) => stepsOnHost(rollback(workspace, layer))),
  };
}

function* nothing(): Steps<void> {}

/** Runs the steps of `first`, then those of each workspace of a codebase, with all of them held. Returns the result of `first`. */
type HeldOf = <T>(
  codebaseId: string,
  first: Steps<T>,
  act: (workspace: Workspace, found: T) => Steps<void>,
) => Steps<T>;

function changedBase(
  workspaces: AttachedWorkspaces,
  codebaseId: string,
  paths: readonly ByteString[],
  heldOf: HeldOf,
): Steps<void> {
  let fitted: ReadonlySet<Workspace>;
  const end = workspaces.bases.endChange(codebaseId, paths, () => {
    fitted = unfitted(workspaces.ofCodebase(codebaseId));
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

/** After the last stage, programs see the base as it was committed. */
function* rebasing(workspaces: AttachedWorkspaces, workspace: Workspace, stage: RebaseStage): Steps<void> {
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

function detaching(workspaces: AttachedWorkspaces, workspace: Workspace | undefined): Steps<void> | undefined {
  if (workspace === undefined) return undefined;
  const { beside } = workspace;
  const both = beside === undefined ? [workspace] : [workspace, beside];
  both.forEach(requireNotHeld);
  workspaces.holds.resume(workspace);
  return workspaces.holds.holdAll(both, detachingAll(workspaces, both));
}

/** Each is detached, whatever fails at the others. */
function* detachingAll(workspaces: AttachedWorkspaces, [first, ...others]: readonly Workspace[]): Steps<void> {
  if (first === undefined) return;
  try {
    yield* workspaces.holds.forOne(first, workspaces.detaching(first));
  } finally {
    yield* detachingAll(workspaces, others);
  }
}

/** Returns those that fitted. An error at one of them keeps the others from being told of the change. */
function unfitted(workspaces: readonly Workspace[]): Set<Workspace> {
  const fitted = workspaces.filter(({ fittedTo }) => fittedTo !== undefined);
  for (const workspace of fitted) workspace.fittedTo = undefined;
  return new Set(fitted);
}

/** Runs the steps of `first`, then those of each workspace in turn. Returns the result of `first`. */
function* eachInTurn<T>(
  { holds }: AttachedWorkspaces,
  workspaces: readonly Workspace[],
  first: Steps<T>,
  act: (workspace: Workspace, found: T) => Steps<void>,
): Steps<T> {
  const found = yield* first;
  for (const workspace of workspaces) yield* holds.forOne(workspace, act(workspace, found));
  return found;
}

function syncingAll(workspaces: AttachedWorkspaces): Steps<void> {
  const { holds } = workspaces;
  const all = [...workspaces.all()];
  // A long operation on any of them is finished first.
  all.forEach(requireNotHeld);
  const steps = function* (): Steps<void> {
    for (const workspace of all) yield* holds.forOne(workspace, workspace.syncing());
  };
  return holds.holdSame(all, steps());
}

function* findUnchanged(
  { holds }: AttachedWorkspaces,
  workspaces: readonly Workspace[],
  changing: ChangingBase,
): Steps<FoundUnchanged> {
  const candidates: string[] = [];
  for (const workspace of workspaces) {
    if (yield* holds.forOne(workspace, mayRevertUnchanged(workspace, changing))) candidates.push(workspace.spec.id);
  }
  return { open: workspaces.map(({ spec }) => spec.id), candidates };
}

function* revertingUnchanged(
  workspace: Workspace,
  changing: ChangingBase,
  listed: boolean,
): Steps<PathFilter | undefined> {
  yield* revertUnchanged(workspace, changing);
  return listed ? yield* ownPathFilter(workspace) : undefined;
}

function* freezing(workspace: Workspace, limited: boolean): Steps<Frozen> {
  const { delta } = workspace;
  if (limited) requireRoom(workspace);
  const layer = yield* stepsOnHost(delta.layers.freezing(workspace.fittedTo));
  return { layer, files: delta.inodes, bytes: delta.bytes };
}

function compacting(
  { files }: AttachedWorkspaces,
  { delta, tree }: Workspace,
  layers: readonly string[],
  limit: number,
): Steps<'more' | 'done' | 'kept'> {
  return delta.layers.compacting(layers, limit, (inode) => {
    const node = tree.nodeOf(inode);
    if (node !== undefined) files.close(node);
  });
}
