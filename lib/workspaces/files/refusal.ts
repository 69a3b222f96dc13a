import { constants } from 'node:os';
import type { ByteString } from '../../byte-string.ts';
import { type Code, ServiceError } from '../../errors.ts';
import { hostFault } from '../../host-error.ts';
import { Errno } from '../../linux/errno.ts';
import { Damage } from '../delta/damage.ts';

const { errno } = constants;
const SHOWN = 200;

export const ELOOP = new Errno(errno.ELOOP);

const REFUSALS: ReadonlyMap<number, readonly [Code, string]> = new Map([
  [errno.ENOENT, ['NOT_FOUND', 'does not exist']],
  [errno.EACCES, ['PERMISSION_DENIED', 'is not open to this by the rules or mode bits']],
  [errno.EPERM, ['PERMISSION_DENIED', 'is not open to this']],
  [errno.EEXIST, ['ALREADY_EXISTS', 'is there already']],
  [errno.EISDIR, ['FAILED_PRECONDITION', 'is a directory']],
  [errno.ENOTDIR, ['FAILED_PRECONDITION', 'is not a directory, or a part of it is not']],
  [errno.ENOTEMPTY, ['FAILED_PRECONDITION', 'is a directory that is not empty']],
  [errno.EINVAL, ['FAILED_PRECONDITION', 'is not of the kind that this is for']],
  [errno.ELOOP, ['FAILED_PRECONDITION', 'leads through too many symbolic links']],
  [errno.ENAMETOOLONG, ['INVALID_ARGUMENT', 'leads to a name of more than 255 bytes, or to a path of more than 4096']],
  [errno.EDQUOT, ['RESOURCE_EXHAUSTED', 'would be more than the sandbox may write']],
  [errno.ENOSPC, ['RESOURCE_EXHAUSTED', 'does not fit the disk']],
  [errno.EFBIG, ['RESOURCE_EXHAUSTED', 'is larger than a file can be']],
  [errno.ESTALE, ['ABORTED', 'was open when the sandbox was stopped or rolled back; try again']],
] as const);

/** A refusal as callers of the service are told it; what is no refusal stays what it is. */
export function refusal(thrown: unknown, path: ByteString | undefined): unknown {
  if (!(thrown instanceof Errno)) return thrown;
  if (thrown instanceof Damage) return new ServiceError('DATA_LOSS', thrown.message);
  const name = path === undefined ? 'the file' : shown(path);
  const told = REFUSALS.get(thrown.errno);
  if (told !== undefined) return new ServiceError(told[0], `${name} ${told[1]}`);
  return hostFault(thrown, `${name} could not be read or written`);
}

export function shown(path: ByteString): string {
  if (path === '') return 'the root of the workspace';
  const text = Buffer.from(path, 'latin1').toString();
  return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
}

export function leadsOut(path: ByteString): ServiceError {
  return new ServiceError(
    'FAILED_PRECONDITION',
    `${shown(path)} leads out of the workspace through a symbolic link, which is not followed`,
  );
}
