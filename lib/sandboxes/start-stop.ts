import { ServiceError } from '../errors.ts';
import type { Sandbox } from '../messages.ts';
import { hasJournal } from '../workspaces/delta/layers/layers-on-disk.ts';
import { bringUp, deltaOf, endProcesses, takeDown } from './bring-up.ts';
import { autoCommit, commitsItself } from './changes/auto-commit.ts';
import { isExpired } from './clock.ts';
import type { SandboxContext } from './context.ts';
import { breakDown, reasonOf, whenDied } from './failure.ts';
import type { LiveSandbox } from './sandbox.ts';

/** RUNNING and durable on return; a failure leaves it SANDBOX_ERROR with the reason. */
export function startSandbox(id: string, context: SandboxContext): Promise<Sandbox> {
  return context.change(id, async (sandbox) => {
    if (sandbox.status === 'SANDBOX_RUNNING') return sandbox.view();
    if (isExpired(sandbox.record.expires_at, context.clock)) throw expired(id);
    const before = { status: sandbox.status, reason: sandbox.reason };
    sandbox.become('start');
    await launch(sandbox, context);
    await keep(sandbox, before, context);
    if (sandbox.record.checkpoints !== undefined || sandbox.record.origin !== undefined) context.reclaimLayers();
    return sandbox.view();
  });
}

/** From SANDBOX_PENDING to RUNNING, or to ERROR and a throw. Call from its queue. */
export async function launch(sandbox: LiveSandbox, context: SandboxContext): Promise<void> {
  try {
    await bringUp(sandbox, context.platform, whenDied(sandbox, context));
    sandbox.become('launched');
  } catch (error) {
    await breakDown(sandbox, reasonOf(error), context);
    throw error;
  }
}

/** Ends every process in it; its files stay. Stored before anything ends: a failure has changed nothing. */
export function stopSandbox(id: string, context: SandboxContext): Promise<Sandbox> {
  return context.change(id, async (sandbox) => {
    if (sandbox.status === 'SANDBOX_STOPPED') {
      if (sandbox.record.commit_owed) await autoCommit(sandbox, context);
      return sandbox.view();
    }
    if (sandbox.status !== 'SANDBOX_RUNNING') throw sandbox.refuse();
    await context.platform.descriptors.lend(() => endAndCommit(sandbox, context));
    return sandbox.view();
  });
}

/**
 * The next server owes the commit when this one does not come to make it. False: there was one to make, and it was not.
 * Call from its queue, while it is RUNNING.
 */
export async function endAndCommit(sandbox: LiveSandbox, context: SandboxContext): Promise<boolean> {
  const commits = commitsItself(sandbox);
  const changed = await hasJournal(deltaOf(sandbox.id, context.platform.layout));
  const record = { ...sandbox.record, ...(commits && { commit_owed: true }), ...(changed && { changed }) };
  await context.metadata.sandboxes.put({ ...record, status: 'SANDBOX_STOPPED' });
  sandbox.record = record;
  sandbox.become('stop');
  // Not before every program has ended: nothing is written any more.
  await endProcesses(sandbox, context.platform);
  const committed = !commits || (await autoCommit(sandbox, context));
  await takeDown(sandbox, context.platform);
  return committed;
}

/** A start that could not be stored is taken back: the record still says what it was. */
async function keep(
  sandbox: LiveSandbox,
  before: Pick<LiveSandbox, 'status' | 'reason'>,
  context: SandboxContext,
): Promise<void> {
  try {
    await context.metadata.sandboxes.put(sandbox.settled());
  } catch (error) {
    await takeDown(sandbox, context.platform);
    sandbox.become(before.status === 'SANDBOX_STOPPED' ? 'stop' : 'failed', before.reason);
    throw error;
  }
}

export function expired(id: string): ServiceError {
  return new ServiceError('FAILED_PRECONDITION', `sandbox ${id} has expired`);
}
