import type { DeniedHost } from '../../lib/contract/messages.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { Services } from '../../lib/services.ts';

const ABSENT = {
  present: undefined,
  absent: 'if it waited for a network, the sandbox has none',
  tried: 'a program in the sandbox has tried to use a network, and there is none',
} as const;

interface Late {
  services: Pick<Services, 'timeoutAdvice'>;
  sandboxId: string;
}

/**
 * The error of a command that ran longer than its timeout, with what is known of the reason and what to do. `partial`:
 * the output so far, if the caller has not got it. Any other error is returned as it is.
 */
export async function afterTimeout(error: unknown, { services, sandboxId }: Late, partial?: object): Promise<unknown> {
  if (!(error instanceof ServiceError) || error.code !== 'DEADLINE_EXCEEDED') return error;
  const advice = await services.timeoutAdvice?.(sandboxId);
  const denied = deniedIn(error);
  const clauses = [
    denied && `refused meanwhile: ${inWords(denied.denied_hosts)}`,
    partial && 'its output so far is in the details',
    advice?.network && ABSENT[advice.network],
    advice && `a longer command takes a timeout of up to ${advice.maxTimeout} seconds, or is started as a process`,
  ].filter((clause) => typeof clause === 'string');
  if (clauses.length === 0) return error;
  const message = `${error.message}: ${clauses.join('; ')}`;
  const others = error.details.filter((each) => each !== denied);
  const last = partial || denied ? [{ ...partial, ...denied }] : [];
  return new ServiceError(error.code, message, [...others, ...last], { cause: error });
}

/** What the sandbox's policy refused while the command ran. */
function deniedIn({ details }: ServiceError): { denied_hosts: readonly DeniedHost[] } | undefined {
  const found = details.find((each) => typeof each === 'object' && each !== null && 'denied_hosts' in each);
  return found as { denied_hosts: readonly DeniedHost[] } | undefined;
}

const MOST_NAMED = 3;

function inWords(hosts: readonly DeniedHost[]): string {
  const last = hosts.slice(-MOST_NAMED);
  const named = last.map(({ host, port, code }) => `${host}${port === 0 ? '' : `:${port}`} (${code})`);
  const more = hosts.length - last.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
