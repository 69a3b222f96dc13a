import { ServiceError } from '../../errors.ts';
import type { RunningSandbox } from '../../runtime/runtime.ts';
import type { SandboxContext } from '../context.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { takeDown } from './bring-up.ts';

/** What a sandbox's `status_reason` may say of an error: nothing of a defect's inside. */
export function reasonOf(error: unknown): string {
  return error instanceof ServiceError ? error.message : 'internal error';
}

/** For the runtime's `died`: the sandbox that ran then, and only that run of it, is broken from now on. */
export function onExit(sandbox: LiveSandbox, context: SandboxContext): (dead: RunningSandbox, reason: string) => void {
  return (dead, reason) => {
    // In the queue: a stop or destroy that is under way wins.
    const broken = sandbox.queue.run(async () => {
      if (context.closing || sandbox.running !== dead) return;
      await markFailed(sandbox, reason, context);
    });
    broken.catch((err: unknown) => context.log.error('a broken sandbox stays up', { sandbox_id: sandbox.id, err }));
  };
}

/** Takes it down and keeps the reason; StartSandbox brings it back with its files. Call from its queue. */
export async function markFailed(sandbox: LiveSandbox, reason: string, context: SandboxContext): Promise<void> {
  context.log.warn('a sandbox broke', { sandbox_id: sandbox.id, reason });
  await takeDown(sandbox, context.platform);
  sandbox.transition('failed', reason);
  // Not stored, the record still says RUNNING: the next server brings it up.
  await sandbox.report({}, context.metadata.sandboxes).catch(() => undefined);
}
