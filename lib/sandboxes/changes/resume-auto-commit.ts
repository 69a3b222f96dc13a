import type { SandboxContext } from '../context.ts';
import type { LiveSandbox } from '../sandbox.ts';

/** After somebody looked after the changes: the next automatic commit is tried again. Call from its queue. */
export async function resumeAutoCommit(sandbox: LiveSandbox, context: SandboxContext): Promise<void> {
  sandbox.committedCount = undefined;
  if (sandbox.record.auto_commit_error === '') return;
  await sandbox
    .report({ auto_commit_error: '', auto_commit_stopped: false }, context.metadata.sandboxes)
    .catch((err: unknown) => context.log.warn('a status was not stored', { sandbox_id: sandbox.id, err }));
}
