import { ServiceError } from '../errors.ts';

/** INVALID_ARGUMENT for an archive that is no usable image. */
export function invalidImage(what: string): ServiceError {
  return new ServiceError('INVALID_ARGUMENT', `the image cannot be imported: ${what}`);
}
