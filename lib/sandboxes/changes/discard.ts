import type { SandboxContext } from '../context.ts';
import { chosenPaths } from './chosen-paths.ts';
import { resumeAutoCommit } from './resume-auto-commit.ts';
import { withWorkspace } from './with-workspace.ts';

/** Reverts paths, atomically. Open files then show the codebase's version, if the codebase has one. */
export async function discardChanges(
  id: string,
  paths: readonly string[],
  context: SandboxContext,
): Promise<{ discarded: number }> {
  const chosen = await chosenPaths(paths);
  return withWorkspace(id, context, async (mount, sandbox) => {
    const discarded = await mount.revert(id, chosen);
    await resumeAutoCommit(sandbox, context);
    return { discarded };
  });
}
