import type { ExecRequest } from '../../contract/messages.ts';
import { invalidArgument } from '../../errors.ts';

export interface Timeouts {
  /** Milliseconds. */
  defaultTimeout: number;
  maxTimeout: number;
}

/** Returns the timeout of a command in milliseconds. Throws INVALID_ARGUMENT above the server's maximum. */
export function timeoutOf({ timeout }: Pick<ExecRequest, 'timeout'>, { defaultTimeout, maxTimeout }: Timeouts): number {
  if (timeout * 1000 > maxTimeout) {
    throw invalidArgument(
      'timeout',
      `must be at most ${maxTimeout / 1000} seconds (runtime.max_timeout), not ${timeout}`,
    );
  }
  return timeout === 0 ? defaultTimeout : timeout * 1000;
}
