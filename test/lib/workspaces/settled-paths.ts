import { rebasing } from '../../../lib/sandboxes/changes/rebased-paths.ts';
import type { RebasedPath } from '../../../lib/workspaces/workspaces.ts';

/** The paths to rebase after a commit, computed in one go. */
export function settledPaths(...of: Parameters<typeof rebasing>): readonly RebasedPath[] {
  const steps = rebasing(...of);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
