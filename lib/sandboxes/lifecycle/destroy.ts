import { ServiceError } from '../../errors.ts';
import { autoCommit, commitsItself } from '../changes/auto-commit.ts';
import type { SandboxContext } from '../context.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { takeDown } from './bring-up.ts';
import { endAndCommit } from './start-stop.ts';

/**
 * From every state. The record goes first and durably: from then on it is destroyed, and whatever a crash leaves of
 * it the next start removes. One that commits by itself does so before that, or stays.
 */
export function destroySandbox(id: string, context: SandboxContext, discard = false): Promise<void> {
  const destroy = async (sandbox: LiveSandbox) => {
    if (commitsItself(sandbox) && !discard) await commitOrRefuse(sandbox, context);
    sandbox.leaving = true;
    try {
      await context.metadata.sandboxes.remove(id);
    } catch (error) {
      sandbox.leaving = false;
      throw error;
    }
    await takeDown(sandbox, context.platform);
    await context.forget(sandbox);
  };
  return context.change(id, (sandbox) => context.platform.descriptors.lend(() => destroy(sandbox)));
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
