import { getSystemErrorName } from 'node:util';
import { ServiceError } from './errors.ts';
import { Errno, errorCode } from './linux/errno.ts';

/** The exhausted resource of the host, by errno. */
const SHORT_OF: Readonly<Record<string, string>> = {
  EMFILE: 'file descriptors',
  ENFILE: 'file descriptors',
  ENOSPC: 'room on its disk',
  EDQUOT: 'room on its disk',
  ENOMEM: 'memory',
  ENOBUFS: 'memory',
  EAGAIN: 'processes',
};

/** Errnos of a failing disk, file system or pipe of the host, independent of the operation. */
const FAULTS: ReadonlySet<string> = new Set([
  'EHOSTDOWN',
  'EIO',
  'ENODEV',
  'ENOTCONN',
  'ENXIO',
  'EPIPE',
  'EROFS',
  'ESTALE',
  'ETIMEDOUT',
  'EUCLEAN',
]);

export function isHostShort(error: unknown): boolean {
  return SHORT_OF[errnoName(error) ?? ''] !== undefined;
}

/**
 * Converts an error of the server's own system calls: RESOURCE_EXHAUSTED if a resource of the host is exhausted,
 * otherwise UNAVAILABLE. `what` is the failure, as in "the sandbox could not be started". Other errors are returned
 * unchanged.
 */
export function hostError(error: unknown, what: string): unknown {
  const code = errnoName(error);
  if (error instanceof ServiceError || code === undefined) return error;
  const short = SHORT_OF[code];
  return short === undefined
    ? new ServiceError('UNAVAILABLE', what, [], { cause: error })
    : new ServiceError('RESOURCE_EXHAUSTED', `${what}: the server is short of ${short}`, [], { cause: error });
}

/** The errno of a fault or of an exhausted resource of the host, rather than of the requested operation. */
export function isHostFault(error: unknown): boolean {
  return isHostShort(error) || FAULTS.has(errnoName(error) ?? '');
}

/** `hostError` for faults of the host. Other errors, also errnos like ENOENT, may be defects and are returned unchanged. */
export function hostFault(error: unknown, what: string): unknown {
  return isHostFault(error) ? hostError(error, what) : error;
}

/** Converts any thrown value to the error for the caller: a fault of the host by `hostFault`, a defect to INTERNAL. */
export function toServiceError(thrown: unknown): ServiceError {
  const error = hostFault(thrown, 'the operation could not be done');
  return error instanceof ServiceError ? error : new ServiceError('INTERNAL', 'internal error', [], { cause: thrown });
}

/** The errno of a failed system call; undefined for other errors. */
function errnoName(error: unknown): string | undefined {
  if (error instanceof Errno) return getSystemErrorName(-error.errno);
  return errorCode(error);
}
