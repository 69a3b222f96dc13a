import { type ByteString, quote } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';

/** Prevented by the plan of a commit; possible for a journal of an older server. */
export function notAll(leftOut: readonly ByteString[]): ServiceError {
  const count = leftOut.length > 1 ? ` and ${leftOut.length - 1} more` : '';
  return new ServiceError(
    'FAILED_PRECONDITION',
    `the commit is made but for ${quote(leftOut[0]!)}${count}: the codebase has an entry of another type in the way`,
  );
}
