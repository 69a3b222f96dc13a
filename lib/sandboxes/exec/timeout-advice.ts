import type { TimeoutAdvice } from '../../services.ts';
import type { SandboxContext } from '../context.ts';

/** See `Services.timeoutAdvice`. */
export async function timeoutAdvice(id: string, context: SandboxContext): Promise<TimeoutAdvice> {
  const running = context.sandboxes.get(id)?.running;
  return { maxTimeout: context.settings.maxTimeout / 1000, ...(running && { network: await running.network() }) };
}
