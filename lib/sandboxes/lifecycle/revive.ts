import type { SandboxContext } from '../context.ts';
import { DETACHED } from '../host/host-state.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { describeLoss, endProcesses } from './bring-up.ts';
import { launch } from './start-stop.ts';

/**
 * Call when the workspace file system has failed: ends the commands of all sandboxes on it, with the reason, and
 * restarts the sandboxes that were RUNNING once it is mounted again (`back` settles then). Calls in between wait. A
 * sandbox that is just starting handles the failure itself (`bringUp`).
 */
export function reviveSandboxes(reason: string, back: Promise<unknown>, context: SandboxContext): void {
  for (const sandbox of context.sandboxes.values()) {
    if (sandbox.host.kind === 'leased') sandbox.host = DETACHED;
    if (!sandbox.attached) continue;
    lose(sandbox, reason, context);
    const revived = sandbox.queue.run(async () => {
      await back;
      await context.bringUps.run(sandbox.id, () => revive(sandbox, reason, context));
    });
    revived.catch((err: unknown) => {
      context.log.error('a sandbox was not brought up again', { sandbox_id: sandbox.id, err });
    });
  }
}

/**
 * Synchronous: no operation starts on the lost workspace, and commands end before their file operations fail. A launch
 * in progress notices by itself; a launch that has finished except for storing its record does not.
 */
function lose(sandbox: LiveSandbox, reason: string, { log }: SandboxContext): void {
  const { id, running, status } = sandbox;
  const ended = status === 'SANDBOX_STOPPED' && running === undefined;
  sandbox.host = ended ? DETACHED : { kind: 'lost', reason, running };
  running?.stop(describeLoss(reason)).catch((err: unknown) => {
    log.warn('sandbox could not be taken down cleanly', { sandbox_id: id, what: 'runtime', err });
  });
}

async function revive(sandbox: LiveSandbox, reason: string, context: SandboxContext): Promise<void> {
  if (context.closing || sandbox.destroying || sandbox.lost === undefined) return;
  await endProcesses(sandbox, context.platform);
  if (sandbox.status !== 'SANDBOX_RUNNING') {
    sandbox.host = DETACHED;
    return;
  }
  sandbox.transition('lost', describeLoss(reason));
  try {
    await launch(sandbox, context);
  } catch {
    // It is SANDBOX_ERROR with the reason, and logged.
    return;
  }
  sandbox.explain(`it was brought up again: ${describeLoss(reason)}`);
  context.log.warn('sandbox restarted', { sandbox_id: sandbox.id, reason: sandbox.reason });
}
