import { ServiceError } from '../../lib/errors.ts';
import type { Services } from '../../lib/services.ts';

const ABSENT = {
  present: undefined,
  absent: 'the sandbox has no network',
  tried: 'the sandbox has no network, and a program in it has tried to use one',
} as const;

interface Late {
  services: Pick<Services, 'timeoutAdvice'>;
  sandboxId: string;
  /** What else the caller could use for a longer command. */
  otherwise: string;
}

/**
 * The error of a command that ran longer than its timeout, with what is known of the reason and what to do. `partial`:
 * the output so far, if the caller has not got it. Any other error is returned as it is.
 */
export async function afterTimeout(
  error: unknown,
  { services, sandboxId, otherwise }: Late,
  partial?: object,
): Promise<unknown> {
  if (!(error instanceof ServiceError) || error.code !== 'DEADLINE_EXCEEDED') return error;
  const advice = await services.timeoutAdvice?.(sandboxId);
  const clauses = [
    partial && 'its output so far is in the details',
    advice?.network && ABSENT[advice.network],
    advice && `a longer command takes a timeout of up to ${advice.maxTimeout} seconds, or ${otherwise}`,
  ].filter((clause) => typeof clause === 'string');
  if (clauses.length === 0) return error;
  const message = `${error.message}: ${clauses.join('; ')}`;
  return new ServiceError(error.code, message, [...error.details, ...(partial ? [partial] : [])], { cause: error });
}
