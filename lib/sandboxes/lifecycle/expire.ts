import { ServiceError } from '../../errors.ts';
import type { SandboxContext } from '../context.ts';
import { isExpired, type JumpDetector } from '../host/clock.ts';
import { each } from '../limiter.ts';
import { destroyWithCause } from './destroy.ts';

const CONCURRENCY = 8;

/**
 * Destroys expired sandboxes and removes the remains of earlier destructions. A failure does not prevent the others.
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
  const due = [...context.sandboxes.values()].filter(({ record }) => isExpired(record.expires_at, context.clock));
  await each(due, CONCURRENCY, async ({ id }) => {
    try {
      await destroyExpired(id, context);
    } catch (err) {
      // Destroyed by another call meanwhile.
      if (err instanceof ServiceError && err.code === 'NOT_FOUND') return;
      context.log.error('expired sandbox could not be destroyed, will retry', { sandbox_id: id, err });
    }
  });
}

/** The time of expiry may have been changed since it was read. */
async function destroyExpired(id: string, context: SandboxContext): Promise<void> {
  await context.change(id, async (sandbox) => {
    const { expires_at } = sandbox.record;
    if (!isExpired(expires_at, context.clock)) return;
    await destroyWithCause(sandbox, context, { cause: { reason: 'expired', since: expires_at } });
    context.log.info('expired sandbox destroyed', { sandbox_id: id });
  });
}
