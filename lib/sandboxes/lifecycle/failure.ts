import { toServiceError } from '../../host-error.ts';
import type { RunningSandbox } from '../../runtime/runtime.ts';
import type { SandboxContext } from '../context.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { takeDown } from './bring-up.ts';

/** The text of an error for a sandbox's `status_reason`, without internals of a defect. */
export function reasonOf(error: unknown): string {
  return toServiceError(error).message;
}

/** Returns the handler of the runtime's `exited`: marks the sandbox as failed if it is still in the run that exited. */
export function onExit(sandbox: LiveSandbox, context: SandboxContext): (dead: RunningSandbox, reason: string) => void {
  return (dead, reason) => {
    // In the queue: a stop or destroy in progress takes precedence.
    const broken = sandbox.queue.run(async () => {
      if (context.closing || sandbox.running !== dead) return;
      await markFailed(sandbox, reason, context);
    });
    broken.catch((err: unknown) =>
      context.log.error('failed sandbox could not be taken down', { sandbox_id: sandbox.id, err }),
    );
  };
}

/**
 * Shows the sandbox as failed, takes it down and stores the reason; StartSandbox restarts it with its files. Call from
 * the sandbox's queue.
 */
export async function markFailed(sandbox: LiveSandbox, reason: string, context: SandboxContext): Promise<void> {
  context.log.warn('sandbox failed', { sandbox_id: sandbox.id, reason });
  // First: from here on commands are refused with the reason, also while the runtime still removes the remains.
  sandbox.transition('failed', reason);
  await takeDown(sandbox, context.platform);
  // If it cannot be stored, the record still says RUNNING, and the next server restarts the sandbox.
  await sandbox.report({}, context.metadata.sandboxes).catch(() => undefined);
}
