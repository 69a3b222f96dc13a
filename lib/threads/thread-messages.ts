import { ServiceError } from '../errors.ts';
import { errorCode } from '../linux/errno.ts';

/** A call of one method of the object that a thread serves. */
export interface ThreadRequest {
  method: string;
  args: readonly unknown[];
}

/** The answer to the only call in progress. */
export type ThreadAnswer = { value: unknown } | { error: EncodedError };

type EncodedError =
  | { kind: 'service'; code: ServiceError['code']; message: string; details: readonly unknown[] }
  | { kind: 'other'; code: string | undefined; message: string; stack: string | undefined };

export function encodeThrown(thrown: unknown): EncodedError {
  if (thrown instanceof ServiceError) {
    return { kind: 'service', code: thrown.code, message: thrown.message, details: [...thrown.details] };
  }
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  return { kind: 'other', code: errorCode(error), message: error.message, stack: error.stack };
}

/** An equal error; one of a system call keeps its code. */
export function decodeThrown(encoded: EncodedError): Error {
  if (encoded.kind === 'service') return new ServiceError(encoded.code, encoded.message, encoded.details);
  const error = new Error(encoded.message);
  if (encoded.stack !== undefined) error.stack = encoded.stack;
  return encoded.code === undefined ? error : Object.assign(error, { code: encoded.code });
}
