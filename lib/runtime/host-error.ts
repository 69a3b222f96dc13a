import { ServiceError } from '../errors.ts';

/** What the host is short of, by the errno that says so. */
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
 * What a caller is told when a call of the server to its own host failed: RESOURCE_EXHAUSTED where the host is short of
 * something, else UNAVAILABLE. `what` could not be done, as in "the sandbox could not be started". What is no error of
 * the host stays what it is.
 */
export function hostError(error: unknown, what: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof ServiceError || code === undefined) return error;
  const short = SHORT_OF[code];
  return short === undefined
    ? new ServiceError('UNAVAILABLE', what, [], { cause: error })
    : new ServiceError('RESOURCE_EXHAUSTED', `${what}: the server is short of ${short}`, [], { cause: error });
}
