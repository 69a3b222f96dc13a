import { ServiceError } from '../../errors.ts';
import type { Command } from '../runtime.ts';
import type { Runner } from './runner.ts';

const MAX_TIMER_MS = 2_147_483_647;

export const cancelled = () => new ServiceError('CANCELLED', 'the command was cancelled');

/** The runner of a command, until the command is cancelled or its time is over. `keep`: takes a runner that starts too late. */
export async function awaitRunner(
  coming: Promise<Runner>,
  { signal, timeoutMs }: Pick<Command, 'signal' | 'timeoutMs'>,
  keep: (late: Runner) => void,
): Promise<Runner> {
  let end = (_error: ServiceError) => {};
  const ended = new Promise<never>((_, reject) => {
    end = reject;
  });
  const cancel = () => end(cancelled());
  const expired = () => end(new ServiceError('DEADLINE_EXCEEDED', `the command ran longer than ${timeoutMs} ms`));
  const timer = timeoutMs === undefined ? undefined : setTimeout(expired, Math.min(timeoutMs, MAX_TIMER_MS));
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await Promise.race([coming, ended]);
  } catch (error) {
    coming.then(keep, () => {});
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}
