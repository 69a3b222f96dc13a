import { ServiceError } from '../errors.ts';

/** The error for an archive that cannot be imported. `what`: the reason, as a clause. */
export function invalidArchive(what: string): ServiceError {
  return new ServiceError('INVALID_ARGUMENT', `the archive cannot be imported: ${what}`);
}
