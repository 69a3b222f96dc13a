import type { SandboxContext } from '../context.ts';
import { reasonOf } from '../failure.ts';
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

/** Where it cannot be stored it is still told, and the commit is tried again by a server that does not know of it. */
async function keep(sandbox: LiveSandbox, error: string, stopped: boolean, context: SandboxContext): Promise<void> {
  const { auto_commit_error, commit_owed, ...record } = sandbox.record;
  const owed = commit_owed && error !== '' && !stopped;
  if (error === auto_commit_error && !!owed === !!commit_owed) return;
  sandbox.record = {
    ...record,
    auto_commit_error: error,
    auto_commit_stopped: stopped,
    ...(owed && { commit_owed }),
  };
  await context.metadata.sandboxes
    .put(sandbox.settled())
    .catch((err: unknown) => context.log.warn('a status was not stored', { sandbox_id: sandbox.id, err }));
}
