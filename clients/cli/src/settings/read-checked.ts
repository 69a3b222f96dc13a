import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { CliError } from '../command-line/errors.ts';

const MOST_BYTES = 256 * 1024;

/** Who may have written the file; throws CliError for others. */
export type CheckOwner = (stats: Stats, path: string) => void;

/**
 * The text of a file that somebody else may have put there; undefined: there is none. The threat: a device without an end,
 * a FIFO that nobody writes, a link to what only this user can read. So nothing is read before it was looked at.
 */
export function readChecked(path: string, check: CheckOwner, { follow = false } = {}): string | undefined {
  const { O_RDONLY, O_NONBLOCK, O_NOCTTY, O_NOFOLLOW } = constants;
  let descriptor: number;
  try {
    descriptor = openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | (follow ? 0 : O_NOFOLLOW));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new CliError(code === 'ELOOP' ? `${path} is a symbolic link` : `${path} cannot be read: ${message}`);
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new CliError(`${path} is no regular file`);
    check(stats, path);
    return textOf(descriptor, path);
  } finally {
    closeSync(descriptor);
  }
}

/** The size of a file may be wrong, or change. */
function textOf(descriptor: number, path: string): string {
  const bytes = Buffer.allocUnsafe(MOST_BYTES + 1);
  let length = 0;
  for (let count = -1; count !== 0 && length < bytes.length; length += count) {
    count = readSync(descriptor, bytes, length, bytes.length - length, null);
  }
  if (length > MOST_BYTES) throw new CliError(`${path} is larger than ${MOST_BYTES / 1024} KiB`);
  return bytes.toString('utf8', 0, length);
}

/** It names programs that the server runs. */
export const ofCallerAlone: CheckOwner = ({ uid, mode }, path) => {
  requireOwner(uid, [], path);
  if ((mode & 0o022) !== 0) throw new CliError(`${path} can be changed by others: run chmod go-w ${path}`);
};

export const ofDirectory =
  (directory: Stats): CheckOwner =>
  ({ uid }, path) =>
    requireOwner(uid, [directory.uid], path);

function requireOwner(uid: number, more: readonly number[], path: string): void {
  if ([0, process.geteuid?.(), ...more].includes(uid)) return;
  throw new CliError(
    `${path} belongs to user ${uid}: it must be yours or root's${more.length > 0 ? ", or of its directory's owner" : ''}`,
  );
}
