import type { SandboxContext } from '../context.ts';
import { limiter } from '../limiter.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { describeLoss, endProcesses } from './bring-up.ts';
import { launch } from './start-stop.ts';

const AT_ONCE = 8;

/**
 * The workspace file system died: ends the commands of all sandboxes on it now, with the reason, and brings those that
 * were RUNNING up again once it is mounted anew (`back` settles then). Calls that come meanwhile wait for that. Those
 * that are just being brought up do so by themselves (`bringUp`).
 */
export function reviveSandboxes(reason: string, back: Promise<unknown>, context: SandboxContext): void {
  const limited = limiter(AT_ONCE);
  for (const sandbox of context.sandboxes.values()) {
    sandbox.visited = undefined;
    if (!sandbox.attached) continue;
    lose(sandbox, reason, context);
    void sandbox.queue.run(async () => {
      await back;
      await limited(() => revive(sandbox, reason, context));
    });
  }
}

/**
 * Synchronous: nothing is begun on the workspace that is gone, and commands hear of it before their files fail. A launch
 * under way notices by itself; one that is over but for the storing of its record does not.
 */
function lose(sandbox: LiveSandbox, reason: string, { log }: SandboxContext): void {
  const { id, running, status } = sandbox;
  if (status !== 'SANDBOX_PENDING') sandbox.attached = false;
  if (status !== 'SANDBOX_STOPPED') sandbox.lost = reason;
  running?.stop(describeLoss(reason)).catch((err: unknown) => {
    log.warn('a sandbox could not be taken down cleanly', { sandbox_id: id, what: 'runtime', err });
  });
}

async function revive(sandbox: LiveSandbox, reason: string, context: SandboxContext): Promise<void> {
  if (context.closing || sandbox.leaving || sandbox.lost === undefined) return;
  sandbox.lost = undefined;
  if (sandbox.status !== 'SANDBOX_RUNNING') return;
  await endProcesses(sandbox, context.platform);
  sandbox.transition('lost', describeLoss(reason));
  try {
    await launch(sandbox, context);
  } catch {
    // It is SANDBOX_ERROR with the reason, and logged.
    return;
  }
  sandbox.explain(`it was brought up again: ${describeLoss(reason)}`);
  context.log.warn('a sandbox was brought up again', { sandbox_id: sandbox.id, reason: sandbox.reason });
}
