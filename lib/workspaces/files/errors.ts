import { constants } from 'node:os';
import { type ByteString, quote, toText } from '../../byte-string.ts';
import { type Code, ServiceError } from '../../errors.ts';
import { hostFault } from '../../host-error.ts';
import { Errno } from '../../linux/errno.ts';
import { missing } from '../../not-found.ts';
import { MAX_NAME_BYTES, MAX_PATH_BYTES } from '../../path-limits.ts';
import { Damage } from '../delta/damage.ts';
import { DISK_EDQUOT } from '../delta/disk-share.ts';
import { OWNER_EDQUOT } from '../delta/owner-bytes.ts';
import { NO_ROOM } from '../workspace-error.ts';

const { errno } = constants;
/** Characters of a path in an error message. */

/** Follows a path. */
const TOO_LONG = `resolves to a name of more than ${MAX_NAME_BYTES} bytes or a path of more than ${MAX_PATH_BYTES}`;

export const ELOOP = new Errno(errno.ELOOP);

const ERRORS: ReadonlyMap<number, readonly [Code, string]> = new Map([
  [errno.ENOENT, ['NOT_FOUND', 'does not exist']],
  [errno.EACCES, ['PERMISSION_DENIED', 'cannot be accessed: a rule or its mode does not permit it']],
  [errno.EPERM, ['PERMISSION_DENIED', 'does not permit this operation']],
  [errno.EEXIST, ['ALREADY_EXISTS', 'already exists']],
  [errno.EISDIR, ['FAILED_PRECONDITION', 'is a directory']],
  [errno.ENOTDIR, ['FAILED_PRECONDITION', 'is not a directory, or one of its parents is not']],
  [errno.ENOTEMPTY, ['FAILED_PRECONDITION', 'is a directory that is not empty']],
  [errno.EINVAL, ['FAILED_PRECONDITION', 'has the wrong file type for this operation, or would be moved into itself']],
  [errno.ELOOP, ['FAILED_PRECONDITION', 'resolves through too many symbolic links']],
  [errno.ENAMETOOLONG, ['INVALID_ARGUMENT', TOO_LONG]],
  [errno.EDQUOT, ['RESOURCE_EXHAUSTED', 'exceeds the quota of the sandbox']],
  [errno.ENOSPC, ['RESOURCE_EXHAUSTED', 'cannot be written: no space left on device']],
  [errno.EFBIG, ['RESOURCE_EXHAUSTED', 'exceeds the largest file size']],
  [errno.ESTALE, ['ABORTED', 'was open when the sandbox was stopped or rolled back; try again']],
] as const);

/**
 * Converts an `Errno` to the ServiceError that clients receive, with the path in its message. Returns any other value
 * unchanged. `refused`: the predicate for EACCES.
 */
export function toServiceError(
  thrown: unknown,
  path: ByteString | undefined,
  refused?: (path: ByteString) => string,
): unknown {
  if (!(thrown instanceof Errno)) return thrown;
  if (thrown instanceof Damage) return new ServiceError('DATA_LOSS', thrown.message);
  const name = path === undefined ? 'the file' : quotePath(path);
  if (thrown === OWNER_EDQUOT) {
    return new ServiceError(
      'RESOURCE_EXHAUSTED',
      `${name} exceeds what all sandboxes of the owner may keep together (delta_bytes)`,
    );
  }
  if (thrown === DISK_EDQUOT) return new ServiceError('RESOURCE_EXHAUSTED', `${name} is not stored: ${NO_ROOM}`);
  const known = ERRORS.get(thrown.errno);
  if (known?.[0] === 'NOT_FOUND' && path !== undefined) return missing('file', toText(path), `${name} ${known[1]}`);
  if (refused !== undefined && path !== undefined && thrown.errno === errno.EACCES)
    return new ServiceError('PERMISSION_DENIED', `${name} ${refused(path)}`);
  if (known !== undefined) return new ServiceError(known[0], `${name} ${known[1]}`);
  return hostFault(thrown, `${name} could not be read or written`);
}

/** Returns a path in quotes for an error message, shortened to 200 characters. */
export function quotePath(path: ByteString): string {
  if (path === '') return 'the root of the workspace';
  return quote(path);
}

/** The error for a path that leaves the workspace through a symlink. */
export function escapesWorkspace(path: ByteString): ServiceError {
  return new ServiceError(
    'FAILED_PRECONDITION',
    `${quotePath(path)} is outside the workspace: a symbolic link that leaves the workspace is not followed`,
  );
}
