import { InvalidArgumentError } from './errors.ts';

/** A mistake of the caller's that needs no server to be found. */
export const invalid = (message: string): InvalidArgumentError =>
  new InvalidArgumentError({ code: 'INVALID_ARGUMENT', message });
