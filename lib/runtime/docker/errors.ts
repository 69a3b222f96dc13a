import { ServiceError } from '../../errors.ts';

export interface CallContext {
  address: string;
  doing: string;
  /** Set when the call was given up for its time limit. */
  limitMs?: number | undefined;
}

interface HttpError extends Error {
  statusCode: number;
  json?: { message?: unknown } | Buffer | null;
}

/**
 * An answer or a silence of the daemon as the error a caller may see, in the daemon's own words. 404 is about what was asked
 * (the caller knows better what was missing); all else lies with the daemon, and passes: UNAVAILABLE.
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
  return new ServiceError('UNAVAILABLE', prefix + words, [], { cause: thrown });
}

/** The HTTP status the daemon answered with, of an error made here. */
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

export function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > WORDS_LIMIT ? `${line.slice(0, WORDS_LIMIT)}…` : line;
}
