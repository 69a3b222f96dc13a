import type { ByteString } from '../../byte-string.ts';
import type { Commit } from '../../codebases/commit-journal.ts';
import { ServiceError } from '../../errors.ts';
import { forEach } from '../../long-lists.ts';
import type { SandboxContext } from '../context.ts';
import { workspaceSpec } from '../lifecycle/bring-up.ts';

/**
 * Call after a stage of a commit is in the codebase: removes the committed entries from the sandbox's delta, also if
 * the sandbox is not running. Does not run in the sandbox's queue, where a commit waits for the codebase.
 */
export async function rebaseSandbox(
  commit: Commit,
  stage: number,
  resumed: boolean,
  context: SandboxContext,
): Promise<void> {
  const sandbox = commit.sandboxId === undefined ? undefined : context.sandboxes.get(commit.sandboxId);
  if (sandbox === undefined || sandbox.destroying) return;
  const later: ByteString[] = [];
  for (const { settled } of commit.stages.slice(stage + 1)) {
    await forEach(settled, ({ path }) => void later.push(path));
  }
  const rebaseStage = {
    commit: commit.id,
    stage,
    paths: commit.stages[stage]?.settled ?? [],
    later,
    isLast: stage >= commit.stages.length - (commit.givenUp.length > 0 ? 0 : 1),
    revertPaths: stage === commit.stages.length ? commit.givenUp : [],
    resumed,
  };
  try {
    await context.platform.mount.rebase(workspaceSpec(sandbox, context.platform), rebaseStage);
  } catch (err) {
    if (!resumed || isTransient(err)) throw err;
    // A delta that is damaged or left out must not block the codebase for others.
    context.log.error('a resumed commit is in the codebase, but its sandbox could not be rebased', {
      sandbox_id: sandbox.id,
      err,
    });
  }
}

function isTransient(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === 'UNAVAILABLE' || error.code === 'RESOURCE_EXHAUSTED');
}
