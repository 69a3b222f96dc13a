import { isObject } from '../contract/wire.ts';
import {
  AlreadyExistsError,
  CancelledError,
  CODES,
  type Code,
  CommandTimeoutError,
  ConflictError,
  ConnectionFailedError,
  FailedPreconditionError,
  type Failure,
  InvalidArgumentError,
  NotFoundError,
  PaddockError,
  PermissionDeniedError,
  RateLimitError,
  RequestTimeoutError,
  ResourceExhaustedError,
  ServerError,
  UnauthenticatedError,
  UnavailableError,
} from '../errors.ts';

const CLASSES: Partial<Record<Code, new (failure: Failure) => PaddockError>> = {
  CANCELLED: CancelledError,
  INVALID_ARGUMENT: InvalidArgumentError,
  OUT_OF_RANGE: InvalidArgumentError,
  ALREADY_EXISTS: AlreadyExistsError,
  PERMISSION_DENIED: PermissionDeniedError,
  UNAUTHENTICATED: UnauthenticatedError,
  FAILED_PRECONDITION: FailedPreconditionError,
  UNAVAILABLE: UnavailableError,
  UNKNOWN: ServerError,
  INTERNAL: ServerError,
  DATA_LOSS: ServerError,
  UNIMPLEMENTED: ServerError,
};

/** For answers that are not the server's, for example of a proxy. */
const CODE_OF_STATUS: Readonly<Record<number, Code>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'UNAVAILABLE',
};

const RESOURCE_INFO = 'type.googleapis.com/google.rpc.ResourceInfo';

/** The error that an answer of a URL reports. */
export async function errorOfAnswer(
  answer: Response,
  { operation, url }: { operation: string; url: string },
): Promise<PaddockError> {
  const text = await answer.text().catch(() => '');
  const after = answer.headers.get('retry-after') ?? '';
  const retryAfter = /^\d+$/.test(after) ? Number(after) : Number.NaN;
  const { status } = answer;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // Not of the server.
  }
  if (isErrorBody(body)) return errorOfBody(body, { operation, status, retryAfter });
  const code = CODE_OF_STATUS[status] ?? 'UNKNOWN';
  const said = text === '' ? '' : `: ${text.slice(0, 200)}`;
  const message = `${status} from ${url} (not a Paddock response)${said}`;
  return classified({ code, message, operation, status }, retryAfter);
}

export interface ErrorBody {
  code: number;
  message: string;
  details?: readonly unknown[];
}

function isErrorBody(body: unknown): body is ErrorBody {
  return isObject(body) && typeof body.code === 'number' && typeof body.message === 'string';
}

interface Of {
  operation: string;
  status?: number;
  retryAfter?: number;
}

export function errorOfBody(
  { code, message, details }: ErrorBody,
  { operation, status, retryAfter }: Of,
): PaddockError {
  return classified({ code: CODES[code] ?? 'UNKNOWN', message, details, operation, status }, retryAfter);
}

function classified(failure: Failure, retryAfter = Number.NaN): PaddockError {
  const details = (failure.details ?? []).filter(isObject);
  switch (failure.code) {
    case 'NOT_FOUND':
      return new NotFoundError(failure, resourceOf(details));
    case 'RESOURCE_EXHAUSTED':
      return limited(failure, Number.isNaN(retryAfter) ? delayOf(details) : retryAfter);
    case 'DEADLINE_EXCEEDED':
      return new CommandTimeoutError(
        failure,
        details.find(({ stdout, output }) => isText(stdout) || isText(output)),
      );
    case 'ABORTED': {
      const paths = details.find(({ conflicts }) => Array.isArray(conflicts))?.conflicts;
      return new ConflictError(failure, (paths ?? []) as string[]);
    }
    default:
      return new (CLASSES[failure.code] ?? PaddockError)(failure);
  }
}

const limited = (failure: Failure, retryAfter: number): PaddockError =>
  Number.isNaN(retryAfter) ? new ResourceExhaustedError(failure) : new RateLimitError(failure, retryAfter);

/** Seconds of google.rpc.RetryInfo; NaN: none. */
function delayOf(details: readonly Readonly<Record<string, unknown>>[]): number {
  const delay = details.find((each) => isText(each.retryDelay))?.retryDelay as string | undefined;
  return delay !== undefined && /^\d+(\.\d+)?s$/.test(delay) ? Number(delay.slice(0, -1)) : Number.NaN;
}

const isText = (value: unknown): boolean => typeof value === 'string';

function resourceOf(details: readonly Readonly<Record<string, unknown>>[]): { type: string; id: string } | undefined {
  const info = details.find((each) => each['@type'] === RESOURCE_INFO);
  return info && { type: String(info.resourceType ?? ''), id: String(info.resourceName ?? '') };
}

/** Codes of Node.js, Bun and Deno for a connection that was never made. */
const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'ConnectionRefused']);

/** Codes of Node.js for an answer that does not come, or not further. */
const SILENT = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

export const timeoutError = (url: string, operation: string, cause?: unknown): RequestTimeoutError =>
  new RequestTimeoutError({ message: `${url} did not answer in time`, operation, cause });

/** The error of a call without an answer, or whose answer was cut short. */
export function connectionError(thrown: unknown, url: string, operation: string): ConnectionFailedError {
  const codes = [thrown, (thrown as { cause?: unknown } | undefined)?.cause].map((each) => codeOf(each));
  const reason = codes.find((code) => code !== undefined) ?? String((thrown as Error | undefined)?.message ?? thrown);
  const unsent = codes.some((code) => code !== undefined && UNSENT.has(code));
  if (SILENT.has(reason)) return timeoutError(url, operation, thrown);
  return new ConnectionFailedError({ message: sentenceOf(reason, url, unsent), operation, unsent, cause: thrown });
}

interface Ended {
  url: string;
  operation: string;
  signal?: AbortSignal | undefined;
}

/** What a call throws for what its attempt threw: the reason of its signal, an error of this package as it is, or that of its connection. */
export function failureOf(thrown: unknown, { url, operation, signal }: Ended): unknown {
  if (signal?.aborted) return signal.reason;
  return thrown instanceof PaddockError ? thrown : connectionError(thrown, url, operation);
}

/** Codes of OpenSSL for a certificate that no known authority has signed. */
const UNTRUSTED = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(VERIFY|GET)_[A-Z_]+)$/;
const INVALID = /^(CERT_[A-Z_]+|ERR_TLS_CERT_ALTNAME_INVALID)$/;

function sentenceOf(reason: string, url: string, unsent: boolean): string {
  if (unsent) return `no connection to ${url}: ${reason}; is the server running, and PADDOCK_URL its address?`;
  if (UNTRUSTED.test(reason))
    return `the certificate of ${url} is not trusted: set NODE_EXTRA_CA_CERTS to its authority's file (${reason})`;
  if (INVALID.test(reason)) return `the certificate of ${url} is not valid: ${reason}`;
  if (reason === 'fetch failed') return `cannot connect to ${url}`;
  return `the connection to ${url} was lost: ${reason}`;
}

function codeOf(thrown: unknown): string | undefined {
  const code = (thrown as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
