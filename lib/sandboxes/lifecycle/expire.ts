import { ServiceError } from '../../errors.ts';
import type { SandboxContext } from '../context.ts';
import { isExpired, type JumpDetector } from '../host/clock.ts';
import { each } from '../limiter.ts';
import { destroySandbox } from './destroy.ts';

const CONCURRENCY = 8;

/**
 * Destroys expired sandboxes and removes the remains of earlier destructions. A failure does not prevent the others.
 */
export async function expireSandboxes(context: SandboxContext, jumps: JumpDetector): Promise<void> {
  await each([...context.leftovers], CONCURRENCY, ([id, uid]) => context.removeLeftover(id, uid));
  context.reclaimLeft();
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
      await destroySandbox(id, context);
      context.log.info('expired sandbox destroyed', { sandbox_id: id });
    } catch (err) {
      // Destroyed by another call meanwhile.
      if (err instanceof ServiceError && err.code === 'NOT_FOUND') return;
      context.log.error('expired sandbox could not be destroyed, will retry', { sandbox_id: id, err });
    }
  });
}
