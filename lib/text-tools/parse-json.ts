import { isUtf8 } from 'node:buffer';
import { ServiceError } from '../errors.ts';

/** Parses the body of a request. Throws INVALID_ARGUMENT. */
export function parseJson(body: Uint8Array): unknown {
  if (!isUtf8(body)) throw new ServiceError('INVALID_ARGUMENT', 'the request body must be UTF-8');
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString());
  } catch (error) {
    throw invalidJson(error instanceof Error ? error.message : '');
  }
}

/** `problem`: the parser's text, of which the part that V8 quotes is left out: it may be a secret. */
export function invalidJson(problem: string): ServiceError {
  const shown = problem.replace(/, (?:\.\.\.)?".*$/s, '');
  return new ServiceError(
    'INVALID_ARGUMENT',
    `the request body is not valid JSON${shown && `: ${shown.slice(0, 200)}`}`,
  );
}
