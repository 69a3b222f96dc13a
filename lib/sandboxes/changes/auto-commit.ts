import type { SandboxContext } from '../context.ts';
import { reasonOf } from '../lifecycle/failure.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { commitFrom, isConflict } from './commit.ts';
import { withAttached } from './with-workspace.ts';

/** Whether its changes go to the codebase by themselves. The mock runtime has none. */
export function commitsItself({ record }: LiveSandbox): boolean {
  return record.auto_commit !== 'never' && record.runtime !== 'RUNTIME_MOCK';
}

/**
 * Commits all changes, unless an earlier conflict stopped that; false: they are not. Never throws and never overwrites:
 * what kept it is told in the sandbox's status, and the changes stay. Asks nobody where nothing was changed. Call from its queue.
 */
export async function autoCommit(sandbox: LiveSandbox, context: SandboxContext): Promise<boolean> {
  if (sandbox.record.auto_commit_stopped) return false;
  try {
    // What is changed from here on is looked at the next time.
    const count = Atomics.load(sandbox.changeCount, 0);
    if (count !== sandbox.committedCount) {
      const everything = { sandbox_id: sandbox.id, paths: [], on_conflict: '', dry_run: false } as const;
      await withAttached(sandbox, context, (mount) => commitFrom(sandbox, everything, [''], mount, context));
      sandbox.committedCount = count;
    }
    await keep(sandbox, '', false, context);
    return true;
  } catch (error) {
    // The next server tries again.
    if (context.closing) return false;
    const stopped = isConflict(error);
    context.log.warn('the changes of a sandbox were not committed', { sandbox_id: sandbox.id, err: error });
    await keep(sandbox, reasonOf(error), stopped, context);
    return false;
  }
}

/** A commit that is owed stays so until it is made, or a conflict stopped it. */
async function keep(
  sandbox: LiveSandbox,
  auto_commit_error: string,
  auto_commit_stopped: boolean,
  context: SandboxContext,
): Promise<void> {
  const { record } = sandbox;
  const owed = record.commit_owed && auto_commit_error !== '' && !auto_commit_stopped;
  if (auto_commit_error === record.auto_commit_error && !!owed === !!record.commit_owed) return;
  const commit_owed = owed || undefined;
  await sandbox
    .report({ auto_commit_error, auto_commit_stopped, commit_owed }, context.metadata.sandboxes)
    .catch((err: unknown) => context.log.warn('a status was not stored', { sandbox_id: sandbox.id, err }));
}
