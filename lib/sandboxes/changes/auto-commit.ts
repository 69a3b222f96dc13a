import { ROOT_PATH } from '../../byte-string.ts';
import type { SandboxContext } from '../context.ts';
import { reasonOf } from '../lifecycle/failure.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { commitFrom, isConflict } from './commit.ts';
import { withAttached } from './with-workspace.ts';

/** Whether changes are committed automatically. The mock runtime has no changes. */
export function commitsItself({ record }: LiveSandbox): boolean {
  return record.auto_commit !== 'never' && record.runtime !== 'RUNTIME_MOCK';
}

/**
 * Commits all changes, unless an earlier conflict stopped automatic commits. Returns false if changes are left. Never
 * throws and never overwrites: the reason of a failure is stored in the sandbox's status, and the changes are kept.
 * Skips the file system if nothing has changed. Call from the sandbox's queue.
 */
export async function autoCommit(sandbox: LiveSandbox, context: SandboxContext): Promise<boolean> {
  if (sandbox.record.auto_commit_stopped) return false;
  try {
    // Changes from here on are examined by the next commit.
    const count = Atomics.load(sandbox.changeCount, 0);
    if (count !== sandbox.committedCount) {
      const everything = { sandbox_id: sandbox.id, paths: [], on_conflict: '', dry_run: false } as const;
      const all = { paths: [ROOT_PATH], exclude: [], scratch: false };
      await withAttached(sandbox, context, (mount) => commitFrom(sandbox, everything, all, mount, context));
      sandbox.committedCount = count;
    }
    await storeOutcome(sandbox, '', false, context);
    return true;
  } catch (error) {
    // The next server retries.
    if (context.closing) return false;
    const stopped = isConflict(error);
    context.log.warn('automatic commit failed', { sandbox_id: sandbox.id, err: error });
    await storeOutcome(sandbox, reasonOf(error), stopped, context);
    return false;
  }
}

/** A pending commit stays pending until it is made, or until a conflict stops it. */
async function storeOutcome(
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
    .catch((err: unknown) => context.log.warn('sandbox status not stored', { sandbox_id: sandbox.id, err }));
}
