import { constants } from 'node:os';

const { errno } = constants;

/** Thrown to answer a request with an error. Not an Error: making one costs no stack trace. Instances are reused. */
export class Errno {
  /** Positive, as in errno(3). */
  readonly errno: number;
  constructor(errno: number) {
    this.errno = errno;
  }
}

export const EACCES = new Errno(errno.EACCES);
export const EDQUOT = new Errno(errno.EDQUOT);
export const EEXIST = new Errno(errno.EEXIST);
export const EFBIG = new Errno(errno.EFBIG);
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

/** What a host call threw, as the program is to see it: its errno kept (ENOSPC, EIO …); a defect stays what it is. */
export function hostErrno(thrown: unknown): unknown {
  if (thrown instanceof Errno || !(thrown instanceof Error) || !('errno' in thrown)) return thrown;
  return typeof thrown.errno === 'number' && thrown.errno < 0 ? new Errno(-thrown.errno) : thrown;
}
