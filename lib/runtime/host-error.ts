import { ServiceError } from '../errors.ts';

/** The exhausted resource of the host, by errno. */
const SHORT_OF: Readonly<Record<string, string>> = {
  EMFILE: 'file descriptors',
  ENFILE: 'file descriptors',
  ENOSPC: 'room for its run-time files',
  EDQUOT: 'room for its run-time files',
  ENOMEM: 'memory',
  EAGAIN: 'processes',
};

export function isHostShort(error: unknown): boolean {
  return SHORT_OF[(error as NodeJS.ErrnoException).code ?? ''] !== undefined;
}

/**
 * Converts an error of the server's own system calls: RESOURCE_EXHAUSTED if a resource of the host is exhausted,
 * otherwise UNAVAILABLE. `what` is the failure, as in "the sandbox could not be started". Other errors are returned
 * unchanged.
 */
export function hostError(error: unknown, what: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof ServiceError || code === undefined) return error;
  const short = SHORT_OF[code];
  return short === undefined
    ? new ServiceError('UNAVAILABLE', what, [], { cause: error })
    : new ServiceError('RESOURCE_EXHAUSTED', `${what}: the server is short of ${short}`, [], { cause: error });
}
