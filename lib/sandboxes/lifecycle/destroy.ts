import { ServiceError } from '../../errors.ts';
import { autoCommit, commitsItself } from '../changes/auto-commit.ts';
import type { SandboxContext } from '../context.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { takeDown } from './bring-up.ts';
import { endAndCommit } from './start-stop.ts';

/**
 * Destroys a sandbox in any state. The record is removed first and durably; after a crash the next start removes the
 * rest. With automatic commits, the changes are committed before that, or the sandbox is kept.
 */
export function destroySandbox(id: string, context: SandboxContext, discard = false): Promise<void> {
  const destroy = async (sandbox: LiveSandbox) => {
    if (commitsItself(sandbox) && !discard) await commitOrRefuse(sandbox, context);
    sandbox.destroying = true;
    try {
      await context.metadata.sandboxes.remove(id);
    } catch (error) {
      sandbox.destroying = false;
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
