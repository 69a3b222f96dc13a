import { ServiceError } from '../../errors.ts';
import type { SandboxContext } from '../context.ts';
import { isExpired, type JumpDetector } from '../host/clock.ts';
import { each } from '../limiter.ts';
import { destroySandbox } from './destroy.ts';

const AT_ONCE = 8;

/** Destroys what has expired, and removes what earlier destructions left behind. One failure does not keep the others. */
export async function expireSandboxes(context: SandboxContext, jumps: JumpDetector): Promise<void> {
  await each([...context.leftovers], AT_ONCE, ([id, uid]) => context.removeLeftover(id, uid));
  const jump = jumps.look();
  if (jump !== 0) {
    context.log.warn('the clock was set; nothing is destroyed until the next cleanup', {
      seconds: Math.round(jump / 1000),
    });
    return;
  }
  const due = [...context.sandboxes.values()].filter(({ record }) => isExpired(record.expires_at, context.clock));
  await each(due, AT_ONCE, async ({ id }) => {
    try {
      await destroySandbox(id, context);
      context.log.info('an expired sandbox was destroyed', { sandbox_id: id });
    } catch (err) {
      // Someone else destroyed it meanwhile.
      if (err instanceof ServiceError && err.code === 'NOT_FOUND') return;
      context.log.error('an expired sandbox was not destroyed; it is tried again', { sandbox_id: id, err });
    }
  });
}
