import { CommitFiles } from '../../../lib/codebases/commits/commit-files.ts';
import type { Step } from '../../../lib/codebases/commits/commit-steps.ts';
import { inSameThread } from '../../../lib/threads/same-thread.ts';

/** The thread of a commit, in that of the test. */
export const commitThread = () => inSameThread(() => new CommitFiles()).take();

/** Returns the paths of skipped steps. */
export function applySteps(files: string, staging: string, steps: readonly Step[]): string[] {
  const thread = new CommitFiles();
  try {
    return thread.apply(files, staging, steps);
  } finally {
    thread.close();
  }
}
