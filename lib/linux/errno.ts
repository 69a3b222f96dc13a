import { constants } from 'node:os';

const { errno } = constants;

/**
 * Thrown to answer a request with an error. Not a subclass of Error, so that no stack trace is captured. Instances are
 * reused.
 */
export class Errno {
  /** Above 0, as in errno(3). */
  readonly errno: number;
  constructor(errno: number) {
    this.errno = errno;
  }
}

export const EACCES = new Errno(errno.EACCES);
export const EDQUOT = new Errno(errno.EDQUOT);
export const EEXIST = new Errno(errno.EEXIST);
export const EFBIG = new Errno(errno.EFBIG);
export const EINTR = new Errno(errno.EINTR);
export const EINVAL = new Errno(errno.EINVAL);
export const EIO = new Errno(errno.EIO);
export const EISDIR = new Errno(errno.EISDIR);
export const EMLINK = new Errno(errno.EMLINK);
export const ENAMETOOLONG = new Errno(errno.ENAMETOOLONG);
export const ENOENT = new Errno(errno.ENOENT);
export const ENOSPC = new Errno(errno.ENOSPC);
export const ENOTDIR = new Errno(errno.ENOTDIR);
export const ENOTEMPTY = new Errno(errno.ENOTEMPTY);
export const ENOSYS = new Errno(errno.ENOSYS);
export const ENOTTY = new Errno(errno.ENOTTY);
export const EPROTO = new Errno(errno.EPROTO);
export const EPERM = new Errno(errno.EPERM);
export const ESTALE = new Errno(errno.ESTALE);

/** The name of the errno of a failed system call (`ENOENT`), or the code of another error of Node; otherwise undefined. */
export function errorCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** For `catch`: returns undefined for ENOENT and throws any other error. */
export function ignoreAbsent(thrown: unknown): undefined {
  if (errorCode(thrown) !== 'ENOENT') throw thrown;
}

/** The errno of a failed system call, above 0. EIO for any other error. */
export function errnoOf(thrown: unknown): number {
  const error = hostErrno(thrown);
  return error instanceof Errno ? error.errno : EIO.errno;
}

/** Converts the error of a system call to an `Errno`. Returns any other value unchanged. */
export function hostErrno(thrown: unknown): unknown {
  if (thrown instanceof Errno || !(thrown instanceof Error) || !('errno' in thrown)) return thrown;
  return typeof thrown.errno === 'number' && thrown.errno < 0 ? new Errno(-thrown.errno) : thrown;
}
