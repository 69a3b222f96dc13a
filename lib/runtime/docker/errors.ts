import { isOutOfDescriptors } from '../../descriptors.ts';
import { ServiceError } from '../../errors.ts';

export interface CallContext {
  address: string;
  doing: string;
  /** Time limit in milliseconds; set if the call was aborted because of it. */
  limitMs?: number | undefined;
}

interface HttpError extends Error {
  statusCode: number;
  json?: { message?: unknown } | Buffer | null;
}

/**
 * Converts the daemon's response, or its absence, to an error with the daemon's own text. 404 becomes NOT_FOUND, which
 * the caller makes specific; a lack of descriptors in this process RESOURCE_EXHAUSTED; every other failure is the
 * daemon's and may be temporary: UNAVAILABLE.
 */
export function daemonError(thrown: unknown, context: CallContext): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  const prefix = `Docker daemon at ${context.address}, ${context.doing}: `;
  if (context.limitMs !== undefined) {
    return new ServiceError('UNAVAILABLE', `${prefix}no answer within ${context.limitMs / 1000} s`);
  }
  if (isHttpError(thrown)) {
    const code = thrown.statusCode === 404 ? 'NOT_FOUND' : 'UNAVAILABLE';
    return new ServiceError(code, prefix + daemonWords(thrown), [], { cause: thrown });
  }
  const words = thrown instanceof Error ? oneLine(thrown.message) : 'no answer';
  const isShort = thrown instanceof Error && isOutOfDescriptors(thrown);
  return new ServiceError(isShort ? 'RESOURCE_EXHAUSTED' : 'UNAVAILABLE', prefix + words, [], { cause: thrown });
}

/** The HTTP status of the daemon's response, for an error made here. */
export function daemonStatus(error: unknown): number | undefined {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isHttpError(cause) ? cause.statusCode : undefined;
}

function isHttpError(thrown: unknown): thrown is HttpError {
  return thrown instanceof Error && typeof (thrown as Partial<HttpError>).statusCode === 'number';
}

function daemonWords(error: HttpError): string {
  const { json } = error;
  const said = json && !Buffer.isBuffer(json) && typeof json.message === 'string' ? json.message : error.message;
  return oneLine(said);
}

const WORDS_LIMIT = 500;

/** The text with every run of white space as one space, for messages and logs. */
export function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > WORDS_LIMIT ? `${line.slice(0, WORDS_LIMIT)}…` : line;
}
