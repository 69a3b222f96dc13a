import { ServiceError } from '../errors.ts';
import { errorCode } from '../linux/errno.ts';

/** For a change that was made but could not be synced: it should not be repeated. */
export function notSynced(done: string): (error: unknown) => never {
  return (cause) => {
    const message = `${done}, but the disk did not confirm it: a power failure may undo it`;
    throw new ServiceError('UNAVAILABLE', message, [], { cause });
  };
}

/** Converts a disk failure to the error for the caller. */
export function diskError(error: unknown): unknown {
  switch (errorCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new ServiceError('RESOURCE_EXHAUSTED', 'the storage of codebases is full', [], { cause: error });
    case 'EFBIG':
      return new ServiceError('RESOURCE_EXHAUSTED', 'the file is larger than the storage can hold', [], {
        cause: error,
      });
    case 'EMFILE':
    case 'ENFILE':
      return new ServiceError('RESOURCE_EXHAUSTED', 'too many files are open, try again', [], { cause: error });
    case 'EROFS':
      return new ServiceError('UNAVAILABLE', 'the storage of codebases is read-only', [], { cause: error });
    case 'ENOMEM':
    case 'ENOBUFS':
      return new ServiceError('RESOURCE_EXHAUSTED', 'the server is out of memory, try again', [], { cause: error });
    case 'EIO':
    case 'EUCLEAN':
      return new ServiceError('UNAVAILABLE', 'the disk with the storage of codebases fails', [], { cause: error });
    case 'ESTALE':
    case 'ENODEV':
    case 'ENXIO':
    case 'ENOTCONN':
    case 'ETIMEDOUT':
    case 'EHOSTDOWN':
      return new ServiceError('UNAVAILABLE', 'the storage of codebases cannot be reached', [], { cause: error });
    default:
      return error;
  }
}
