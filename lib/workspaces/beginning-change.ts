import type { Steps } from '../fuse/connection/steps.ts';
import { Postponed } from '../fuse/filesystem.ts';
import type { AttachedWorkspaces } from './attached-workspaces.ts';
import { preserveMoved } from './history/preserve-removed.ts';
import { requireLayered } from './layered-workspace.ts';
import { workspaceError } from './workspace-error.ts';
import type { ChangingBase, Unpreserved } from './workspaces.ts';

/**
 * Begins a change of a codebase, whose workspaces are held; `by`: the one whose commit it is. From now on, no other moves what
 * shows removed paths: see `LeavingPaths`. What one has moved since `preserveRemoved` is preserved here. Returns those that it
 * failed in. Throws Postponed while a large file is copied; called again then, moves wait all the time.
 */
export function* beginningChange(
  workspaces: AttachedWorkspaces,
  codebaseId: string,
  { paths, removed }: ChangingBase,
  by: string | undefined,
): Steps<Unpreserved[]> {
  const { bases, holds } = workspaces;
  const unpreserved: Unpreserved[] = [];
  if (removed.length > 0) {
    endRemoval(workspaces, codebaseId);
    const others = workspaces.ofCodebase(codebaseId).filter(({ spec }) => spec.id !== by);
    yield* bases.leavingOf(codebaseId).begin(removed, by, holds.newCause(), others.length === 0);
    for (const workspace of others) {
      try {
        yield* holds.forOne(workspace, preserveMoved(requireLayered(workspace), removed));
      } catch (error) {
        if (error instanceof Postponed) throw error;
        unpreserved.push({ id: workspace.spec.id, reason: reasonOf(error) });
      }
    }
  }
  yield* bases.beginChange(codebaseId, paths);
  return unpreserved;
}

function reasonOf(thrown: unknown): string {
  const error = workspaceError(thrown);
  return error instanceof Error ? error.message : String(error);
}

/** What is removed by the change in progress, if there is one, is gone: directories may be moved. */
export function endRemoval({ bases, holds }: AttachedWorkspaces, codebaseId: string): void {
  holds.release(bases.leavingOf(codebaseId).end());
}
