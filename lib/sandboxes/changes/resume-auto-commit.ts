import type { SandboxContext } from '../context.ts';
import type { LiveSandbox } from '../sandbox.ts';

/** Re-enables automatic commits after an explicit commit, discard or rollback. Call from the sandbox's queue. */
export async function resumeAutoCommit(sandbox: LiveSandbox, context: SandboxContext): Promise<void> {
  sandbox.committedCount = undefined;
  if (sandbox.record.auto_commit_error === '') return;
  await sandbox
    .report({ auto_commit_error: '', auto_commit_stopped: false }, context.metadata.sandboxes)
    .catch((err: unknown) => context.log.warn('sandbox status not stored', { sandbox_id: sandbox.id, err }));
}
