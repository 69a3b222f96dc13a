/** Codes of errors, which are those of gRPC, in the order of their numbers. */
export const CODES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

export type Code = (typeof CODES)[number];

export interface Failure {
  code: Code;
  message: string;
  /** Values of JSON. */
  details?: readonly unknown[] | undefined;
  /** Operation that failed, for example "createSandbox". */
  operation?: string | undefined;
  /** HTTP status; absent if there was no answer, or the error came in a stream. */
  status?: number | undefined;
  cause?: unknown;
}

/** Every error of this package, except that a call ends with the reason of its signal. */
export class PaddockError extends Error {
  override name = 'PaddockError';
  readonly code: Code;
  readonly details: readonly unknown[];
  readonly operation: string | undefined;
  readonly status: number | undefined;

  constructor({ code, message, details = [], operation, status, cause }: Failure) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
    this.operation = operation;
    this.status = status;
  }
}

/** CANCELLED. */
export class CancelledError extends PaddockError {
  override name = 'CancelledError';
}
/** INVALID_ARGUMENT or OUT_OF_RANGE: the message names the field and the allowed values. */
export class InvalidArgumentError extends PaddockError {
  override name = 'InvalidArgumentError';
}
/** ALREADY_EXISTS. */
export class AlreadyExistsError extends PaddockError {
  override name = 'AlreadyExistsError';
}
/** PERMISSION_DENIED: by the rules of the sandbox, or because the key may not do it. */
export class PermissionDeniedError extends PaddockError {
  override name = 'PermissionDeniedError';
}
/** UNAUTHENTICATED: there is no key, or it is not valid. */
export class UnauthenticatedError extends PaddockError {
  override name = 'UnauthenticatedError';
}
/** FAILED_PRECONDITION: not in this state. */
export class FailedPreconditionError extends PaddockError {
  override name = 'FailedPreconditionError';
}
/** RESOURCE_EXHAUSTED: a quota or limit is reached. */
export class ResourceExhaustedError extends PaddockError {
  override name = 'ResourceExhaustedError';
}
/** UNAVAILABLE: the sandbox or the server has ended or is ending, or a dependency cannot be reached. */
export class UnavailableError extends PaddockError {
  override name = 'UnavailableError';
}
/** UNKNOWN, INTERNAL, DATA_LOSS or UNIMPLEMENTED: a fault of the server. */
export class ServerError extends PaddockError {
  override name = 'ServerError';
}

/** There was no answer: the server cannot be reached, or the connection was lost. */
export class ConnectionFailedError extends PaddockError {
  override name = 'ConnectionFailedError';
  /** Whether it is certain that the server got nothing of the request. */
  readonly unsent: boolean;

  constructor(failure: Omit<Failure, 'code'> & { unsent?: boolean }) {
    super({ ...failure, code: 'UNAVAILABLE' });
    this.unsent = failure.unsent ?? false;
  }
}

/** No answer, or no further part of it, within the time limit of the client. */
export class RequestTimeoutError extends ConnectionFailedError {
  override name = 'RequestTimeoutError';
}

/** NOT_FOUND. */
export class NotFoundError extends PaddockError {
  override name = 'NotFoundError';
  /** What does not exist: "sandbox", "codebase", "file", "process", "session", "checkpoint", "image", "key"; "": not known. */
  readonly resourceType: string;
  /** Its id, name or path. */
  readonly resourceId: string;

  constructor(failure: Failure, resource?: { type: string; id: string }) {
    super(failure);
    this.resourceType = resource?.type ?? '';
    this.resourceId = resource?.id ?? '';
  }
}

/** ABORTED: something else changed meanwhile. */
export class ConflictError extends PaddockError {
  override name = 'ConflictError';
  /** What a commit or a pull would have overwritten, if it was refused for that: nothing was changed at these paths. */
  readonly paths: readonly string[];

  constructor(failure: Failure, paths: readonly string[] = []) {
    super(failure);
    this.paths = paths;
  }
}

/** Too many calls. It was repeated `maxRetries` times, or may be repeated only after a long time. */
export class RateLimitError extends ResourceExhaustedError {
  override name = 'RateLimitError';
  /** Seconds after which a call may succeed. */
  readonly retryAfter: number;

  constructor(failure: Failure, retryAfter: number) {
    super(failure);
    this.retryAfter = retryAfter;
  }
}

/** DEADLINE_EXCEEDED: a command ran longer than its timeout, and was killed. */
export class CommandTimeoutError extends PaddockError {
  override name = 'CommandTimeoutError';
  /** Output of the command so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Both: with `merge` in the order in which they were written, otherwise one after the other. */
  readonly output: string;

  constructor(failure: Failure, partial: { stdout?: string; stderr?: string; output?: string } = {}) {
    super(failure);
    this.stdout = partial.stdout ?? '';
    this.stderr = partial.stderr ?? '';
    this.output = partial.output || this.stdout + this.stderr;
  }
}
