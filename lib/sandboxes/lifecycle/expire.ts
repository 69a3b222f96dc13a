import { ServiceError } from '../../errors.ts';
import { autoCommit, commitsItself } from '../changes/auto-commit.ts';
import type { SandboxContext } from '../context.ts';
import { isExpired, type JumpDetector } from '../host/clock.ts';
import { each } from '../limiter.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { endProcesses } from './bring-up.ts';
import { destroyWithCause } from './destroy.ts';
import { hasWork } from './has-work.ts';
import { keptTooMany } from './kept.ts';
import { endAndCommit } from './start-stop.ts';

const CONCURRENCY = 8;

/**
 * Ends expired sandboxes, each by its `on_expire`, and removes the remains of earlier destructions. A failure does not
 * prevent the others.
 */
export async function expireSandboxes(context: SandboxContext, jumps: JumpDetector): Promise<void> {
  await each([...context.leftovers], CONCURRENCY, ([id, uid]) => context.removeLeftover(id, uid));
  context.reclaimLeft();
  await context.gone.forgetOld().catch((err: unknown) => {
    context.log.warn('records of destroyed sandboxes could not be removed, will retry', { err });
  });
  const jump = jumps.look();
  if (jump !== 0) {
    context.log.warn('wall clock was set; expired sandboxes are kept until the next cleanup', {
      seconds: Math.round(jump / 1000),
    });
    return;
  }
  const due = context.sandboxes.dueBy(context.clock.now() / 1000);
  await each(due, CONCURRENCY, ({ id }) => attempt(id, context, (sandbox) => end(sandbox, context)));
  const tooMany = keptTooMany(context.sandboxes.kept, context.settings.expiry.maxKept);
  await each(tooMany, CONCURRENCY, ({ id }) => attempt(id, context, (sandbox) => endKept(sandbox, context)));
}

/** The time of expiry may have been changed since it was read. */
async function attempt(
  id: string,
  context: SandboxContext,
  task: (sandbox: LiveSandbox) => Promise<void>,
): Promise<void> {
  try {
    await context.change(id, async (sandbox) => {
      const { record, status } = sandbox;
      // Not until it has been restarted after a restart of the server.
      if (status === 'SANDBOX_PENDING') return;
      if (isExpired(record.expires_at, context.clock)) await task(sandbox);
    });
  } catch (err) {
    // Destroyed by another call meanwhile.
    if (err instanceof ServiceError && err.code === 'NOT_FOUND') return;
    context.log.error('expired sandbox could not be ended, will retry', { sandbox_id: id, err });
  }
}

/** From the sandbox's queue. No command can start any more. */
async function end(sandbox: LiveSandbox, context: SandboxContext): Promise<void> {
  const { on_expire, kept } = sandbox.record;
  if (kept) return endKept(sandbox, context);
  if (on_expire === 'destroy') return destroyExpired(sandbox, context);
  // Nothing may be written after the decision.
  await endProcesses(sandbox, context.platform, true);
  if (on_expire === 'keep_changes' && !(await hasWork(sandbox, context))) return destroyExpired(sandbox, context);
  const committed = await stopExpired(sandbox, context);
  if (on_expire === 'keep_changes' && committed && !(await hasWork(sandbox, context))) {
    return destroyExpired(sandbox, context);
  }
  context.log.info('expired sandbox stopped', { sandbox_id: sandbox.id, destroy_at: sandbox.record.destroy_at });
}

/** Returns whether the sandbox has committed its changes itself. A sandbox in SANDBOX_ERROR stays in it. */
async function stopExpired(sandbox: LiveSandbox, context: SandboxContext): Promise<boolean> {
  const { retention } = context.settings.expiry;
  // Not from the time of expiry: the server may have been down since.
  const since = Math.max(sandbox.record.expires_at, Math.floor(context.clock.now() / 1000));
  const patch = { kept: true, destroy_at: retention === 0 ? 0 : since + Math.ceil(retention / 1000) };
  const commits = commitsItself(sandbox);
  const isUp = sandbox.status === 'SANDBOX_RUNNING';
  if (isUp) return (await context.platform.descriptors.lend(() => endAndCommit(sandbox, context, patch))) && commits;
  await sandbox.update(patch, context.metadata.sandboxes);
  return commits && (await context.platform.descriptors.lend(() => autoCommit(sandbox, context)));
}

/** It has been kept for long enough, or others are kept instead: what could not be committed until now is dropped. */
async function endKept(sandbox: LiveSandbox, context: SandboxContext): Promise<void> {
  if (!sandbox.record.kept) return;
  if (commitsItself(sandbox)) await autoCommit(sandbox, context);
  await destroyExpired(sandbox, context, true);
}

async function destroyExpired(sandbox: LiveSandbox, context: SandboxContext, discard = false): Promise<void> {
  const { id, record } = sandbox;
  await destroyWithCause(sandbox, context, { discard, cause: { reason: 'expired', since: record.expires_at } });
  context.log.info('expired sandbox destroyed', { sandbox_id: id });
}
