import type { ChangeChoice } from '../../services.ts';
import type { SandboxContext } from '../context.ts';
import { resumeAutoCommit } from './resume-auto-commit.ts';
import { selectionOf } from './selection.ts';
import { withWorkspace } from './with-workspace.ts';

/** Reverts paths, atomically. Open files then show the codebase's version, if the codebase has one. */
export async function discardChanges(
  id: string,
  choice: ChangeChoice,
  context: SandboxContext,
): Promise<{ discarded: number }> {
  const { paths, ...keeping } = await selectionOf(choice);
  return withWorkspace(id, context, async (mount, sandbox) => {
    const discarded = await mount.revert(id, paths, keeping);
    await resumeAutoCommit(sandbox, context);
    return { discarded };
  });
}
