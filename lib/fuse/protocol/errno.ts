import { constants } from 'node:os';
import { Errno } from '../filesystem.ts';

const { errno } = constants;

export const EPERM = new Errno(errno.EPERM);
export const EACCES = new Errno(errno.EACCES);
export const ESTALE = new Errno(errno.ESTALE);
export const ENOENT = new Errno(errno.ENOENT);
export const EIO = new Errno(errno.EIO);
export const EFBIG = new Errno(errno.EFBIG);
export const ENOTTY = new Errno(errno.ENOTTY);
export const ENOSYS = new Errno(errno.ENOSYS);
export const ENAMETOOLONG = new Errno(errno.ENAMETOOLONG);
export const EPROTO = new Errno(errno.EPROTO);
