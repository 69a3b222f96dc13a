import { journalState } from '../../workspaces/delta/layers/layers-on-disk.ts';
import { withAttached } from '../changes/with-workspace.ts';
import type { SandboxContext } from '../context.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { deltaOf } from './bring-up.ts';

/**
 * Whether a sandbox has something to lose: checkpoints, or uncommitted changes. Does not walk the changes, so files that
 * were changed back may count; what cannot be read counts, too. Call from the sandbox's queue, when no process is left.
 */
export async function hasWork(sandbox: LiveSandbox, context: SandboxContext): Promise<boolean> {
  const { id, record } = sandbox;
  if (record.runtime === 'RUNTIME_MOCK') return false;
  if ((record.checkpoints ?? []).length > 0) return true;
  try {
    if (record.origin === undefined && (await journalState(deltaOf(id, context.platform.layout))) === undefined) {
      return record.changed === true;
    }
    return await withAttached(sandbox, context, (mount) => mount.hasEntries(id));
  } catch (err) {
    context.log.warn('changes of an expired sandbox cannot be read, so it is kept', { sandbox_id: id, err });
    return true;
  }
}
