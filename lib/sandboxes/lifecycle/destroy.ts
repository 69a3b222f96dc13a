import { ServiceError } from '../../errors.ts';
import type { GoneRecord } from '../../metadata/metadata.ts';
import { autoCommit, commitsItself } from '../changes/auto-commit.ts';
import type { SandboxContext } from '../context.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { takeDown } from './bring-up.ts';
import { endAndCommit } from './start-stop.ts';

/** Why the server itself destroys a sandbox, and since when that has been due (Unix time in seconds). */
export type Cause = Pick<GoneRecord, 'reason' | 'since'>;

/**
 * Destroys a sandbox in any state. The record is removed first and durably; after a crash the next start removes the
 * rest. With automatic commits, the changes are committed before that, or the sandbox is kept.
 */
export function destroySandbox(id: string, context: SandboxContext, discard = false): Promise<void> {
  return context.change(id, (sandbox) => destroyWithCause(sandbox, context, { discard }));
}

/** Like `destroySandbox`, called from the sandbox's queue. With `cause`, it is known for an hour why it is gone. */
export function destroyWithCause(
  sandbox: LiveSandbox,
  context: SandboxContext,
  { discard = false, cause }: { discard?: boolean; cause?: Cause } = {},
): Promise<void> {
  return context.platform.descriptors.lend(async () => {
    if (commitsItself(sandbox) && !discard) await commitOrRefuse(sandbox, context);
    sandbox.destroying = true;
    try {
      await removeRecord(sandbox, context, cause);
    } catch (error) {
      sandbox.destroying = false;
      throw error;
    }
    await takeDown(sandbox, context.platform);
    await context.forget(sandbox);
  });
}

/** One write stores both changes, or neither. */
async function removeRecord(
  { id, record: { owner_id } }: LiveSandbox,
  { clock, gone, metadata }: SandboxContext,
  cause: Cause | undefined,
): Promise<void> {
  const removed = metadata.sandboxes.remove(id);
  const noted = cause && gone.add({ id, owner_id, ...cause, gone_at: Math.floor(clock.now() / 1000) });
  await Promise.all([removed, noted]);
}

async function commitOrRefuse(sandbox: LiveSandbox, context: SandboxContext): Promise<void> {
  const up = sandbox.status === 'SANDBOX_RUNNING';
  const committed = up ? await endAndCommit(sandbox, context) : await autoCommit(sandbox, context);
  if (committed) return;
  context.refuseWhenClosing();
  throw new ServiceError(
    'FAILED_PRECONDITION',
    `sandbox ${sandbox.id} has changes that could not be committed (${sandbox.record.auto_commit_error}); commit or discard them, or destroy it with discard`,
  );
}
