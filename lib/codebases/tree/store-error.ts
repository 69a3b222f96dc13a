import { ServiceError } from '../../errors.ts';
import { AbsentObject } from '../../trees/directory/source.ts';
import { FormatError } from '../../trees/format/format-error.ts';
import { diskError } from '../disk-errors.ts';

/** The error for the caller of what a store, or its disk, threw. */
export function storeError(error: unknown): unknown {
  if (error instanceof AbsentObject || error instanceof FormatError)
    return new ServiceError('DATA_LOSS', 'a part of the codebase is damaged or missing in the storage', [], {
      cause: error,
    });
  return diskError(error);
}

/** The answer of a call that uses a store. */
export function withStore<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw storeError(error);
  }
}
