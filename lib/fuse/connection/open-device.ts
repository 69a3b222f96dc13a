import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { ServiceError } from '../../errors.ts';
import { errorCode } from '../../linux/errno.ts';

/**
 * Opens /dev/fuse for blocking reads and writes. The caller closes it, which aborts the connection. Throws
 * FAILED_PRECONDITION with advice if it cannot be opened.
 */
export async function openDevice(): Promise<FileHandle> {
  try {
    return await open('/dev/fuse', constants.O_RDWR);
  } catch (thrown) {
    const code = errorCode(thrown);
    const advice =
      code === 'EACCES' || code === 'EPERM'
        ? 'run the server as root, or allow its user to read and write /dev/fuse'
        : 'load the kernel module (modprobe fuse); in a container add --device /dev/fuse';
    throw new ServiceError('FAILED_PRECONDITION', `cannot open /dev/fuse (${code}): ${advice}`, [], { cause: thrown });
  }
}
