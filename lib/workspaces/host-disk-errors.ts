import { constants } from 'node:os';
import { ServiceError } from '../errors.ts';
import type { Steps } from '../fuse/connection/steps.ts';
import { EDQUOT, ENOSPC, Errno, hostErrno } from '../linux/errno.ts';

/** As `onHost`. */
export function* stepsOnHost<T>(steps: Steps<T>): Steps<T> {
  for (;;) {
    const { done, value } = onHost(() => steps.next());
    if (done) return value;
    yield value;
  }
}

/** Converts errors of a full or read-only disk, at which nothing has changed, to ServiceErrors. */
function onHost<T>(act: () => T): T {
  try {
    return act();
  } catch (thrown) {
    const error = hostErrno(thrown);
    if (error instanceof Errno && error.errno === constants.errno.EROFS) {
      throw new ServiceError('UNAVAILABLE', 'the disk with the changes of sandboxes is read-only', [], {
        cause: thrown,
      });
    }
    if (!(error instanceof Errno) || ![ENOSPC.errno, EDQUOT.errno].includes(error.errno)) throw thrown;
    throw new ServiceError('RESOURCE_EXHAUSTED', 'the disk with the changes of sandboxes is full', [], {
      cause: thrown,
    });
  }
}
