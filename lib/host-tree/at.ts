import { constants, readlinkSync } from 'node:fs';
import { type ByteString, fromLatin1, toBuffer } from '../byte-string.ts';
import { errorCode } from '../linux/errno.ts';

/** Flags to open a directory for lookups in it; fails for everything else, including a symbolic link to a directory. */
export const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Flags to open an entry that may no longer be a regular file: neither follows a symbolic link nor waits for the other
 * end of a FIFO.
 */
export const OPEN_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * O_PATH (open(2)): refers to a file without opening it, so no permission on the file is needed. Node has no constant
 * for it.
 */
export const O_PATH = 0o10000000;

/** The directory of this process's descriptors. Without the link /proc/self a call takes 0.8 µs less. */
const DESCRIPTORS = `/proc/${ownDirectory()}/fd`;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
const NOT_ASCII = /[^\x00-\x7f]/;

/**
 * Returns the host path of one name in an open directory: Node's nearest equivalent to openat(2). Valid as long as the
 * descriptor is open. The system call that uses it must not follow a symbolic link at the name. Throws for anything but
 * a single path component.
 */
export function at(directory: number, name: ByteString): string | Buffer {
  if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0'))
    throw new Error(`not a name in a directory: ${JSON.stringify(name)}`);
  const path = `${DESCRIPTORS}/${directory}/${name}`;
  // The same bytes; a string costs less than a Buffer, and this is the path of most lookups.
  return NOT_ASCII.test(name) ? toBuffer(fromLatin1(path)) : path;
}

/** Returns a host path of an open file or directory itself, independent of its present name. */
export function itself(descriptor: number): string {
  return `${DESCRIPTORS}/${descriptor}`;
}

function ownDirectory(): string {
  try {
    return readlinkSync('/proc/self');
  } catch {
    return 'self';
  }
}

/** Whether the error means that a path does not lead to an entry in the tree. */
export function isAbsence(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'ENAMETOOLONG';
}
