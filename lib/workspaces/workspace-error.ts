import { ServiceError } from '../errors.ts';
import { hostFault } from '../host-error.ts';
import { EDQUOT } from '../linux/errno.ts';
import { Damage } from './delta/damage.ts';
import { DISK_EDQUOT } from './delta/disk-share.ts';
import { OWNER_EDQUOT } from './delta/owner-bytes.ts';

/** Of DISK_EDQUOT. */
export const NO_ROOM =
  "the server's disk is nearly full, and the sandbox may not grow (storage.reserve_bytes): delete files, or ask again later";

/** Converts what an operation on a workspace threw to the error that the main thread receives. */
export function workspaceError(thrown: unknown): unknown {
  if (thrown instanceof Damage) return new ServiceError('DATA_LOSS', thrown.message);
  if (thrown === EDQUOT) return new ServiceError('RESOURCE_EXHAUSTED', 'the quota of the sandbox is used up');
  if (thrown === OWNER_EDQUOT) {
    return new ServiceError(
      'RESOURCE_EXHAUSTED',
      'the sandboxes of the owner keep the most bytes allowed (delta_bytes)',
    );
  }
  if (thrown === DISK_EDQUOT) return new ServiceError('RESOURCE_EXHAUSTED', NO_ROOM);
  return hostFault(thrown, 'the files of the sandbox could not be read or written');
}
