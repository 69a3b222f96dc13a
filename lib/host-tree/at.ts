import { constants } from 'node:fs';
import type { ByteString } from '../byte-string.ts';

/** Opens a directory for lookups in it, and fails on anything else, a symbolic link to a directory included. */
export const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Opens what may no longer be a regular file: neither follows a symbolic link nor waits for the other end of a FIFO. */
export const OPEN_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * The host path of one name in an open directory: Node's nearest to openat(2). Valid for as long as the descriptor is
 * open. A call that is given it must not follow a symbolic link at the name. Throws on what is not one path component.
 */
export function at(directory: number, name: ByteString): Buffer {
  if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0'))
    throw new Error(`not a name in a directory: ${JSON.stringify(name)}`);
  return Buffer.from(`/proc/self/fd/${directory}/${name}`, 'latin1');
}

/** The host path of an open file or directory itself, whatever name it has now. */
export function itself(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}

/** True for the errors by which the kernel says that a path does not lead to anything in the tree. */
export function isAbsence(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'ENAMETOOLONG';
}
