import type { Steps } from '../fuse/connection/steps.ts';
import { setRules } from './access/rule-changes.ts';
import type { AttachedWorkspaces } from './attached-workspaces.ts';
import type { LongOperations } from './calls.ts';
import { beginFileOperation, fileOperationSteps, hasEffects, isLong } from './files/index.ts';
import { layeredOperations } from './layered-operations.ts';
import { requireNotHeld, requireRunning } from './pause.ts';
import type { Workspace } from './workspace.ts';

export function longOperations(workspaces: AttachedWorkspaces): LongOperations {
  const { holds } = workspaces;
  const held = <T>(id: string, act: (workspace: Workspace) => Steps<T>): Steps<T> => {
    const workspace = workspaces.get(id);
    return holds.holdOpen(workspace, act(workspace));
  };
  return {
    ...layeredOperations(workspaces),
    open: (id) => held(id, nothing),
    detach: (id) => detaching(workspaces, workspaces.find(id)),
    setRules: (id, rules) => {
      // Its notifications could wait for the end of the pause, and those of all others behind them.
      const workspace = requireRunning(workspaces.get(id));
      return holds.hold(workspace, setRules(workspace, rules));
    },
    files: (id, actor, operation, args) => {
      if (!isLong(operation) && !hasEffects(operation)) return undefined;
      const workspace = requireRunning(workspaces.get(id));
      if (isLong(operation)) return held(id, () => fileOperationSteps(workspace, actor, operation, args));
      return holds.hold(workspace, beginFileOperation(workspace, actor, operation, args));
    },
    toldNames: (id, directories) => held(id, (workspace) => workspaces.teller.toldNames(workspace, directories)),
    syncAll: () => syncingAll(workspaces),
  };
}

function* nothing(): Steps<void> {}

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
