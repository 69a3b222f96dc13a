/** The closed set of error codes: those of gRPC (https://grpc.io/docs/guides/status-codes/). */
export const CODES = {
  CANCELLED: { grpc: 1, http: 499 },
  UNKNOWN: { grpc: 2, http: 500 },
  INVALID_ARGUMENT: { grpc: 3, http: 400 },
  DEADLINE_EXCEEDED: { grpc: 4, http: 504 },
  NOT_FOUND: { grpc: 5, http: 404 },
  ALREADY_EXISTS: { grpc: 6, http: 409 },
  PERMISSION_DENIED: { grpc: 7, http: 403 },
  RESOURCE_EXHAUSTED: { grpc: 8, http: 429 },
  FAILED_PRECONDITION: { grpc: 9, http: 400 },
  ABORTED: { grpc: 10, http: 409 },
  OUT_OF_RANGE: { grpc: 11, http: 400 },
  UNIMPLEMENTED: { grpc: 12, http: 501 },
  INTERNAL: { grpc: 13, http: 500 },
  UNAVAILABLE: { grpc: 14, http: 503 },
  DATA_LOSS: { grpc: 15, http: 500 },
  UNAUTHENTICATED: { grpc: 16, http: 401 },
} as const satisfies Record<string, { grpc: number; http: number }>;

export type Code = keyof typeof CODES;

/**
 * An error for the caller. `message` is one clear sentence that names the field and the allowed values. Any other
 * thrown value is converted by `toServiceError`, without its text.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: Code;
  /** Plain JSON values, for example the partial output of a timed-out command. */
  readonly details: readonly unknown[];

  constructor(code: Code, message: string, details: readonly unknown[] = [], options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}

/** The sandbox of a command or shell has ended or is ending; `reason` says why. Other UNAVAILABLE errors may pass. */
export class SandboxEnded extends ServiceError {
  constructor(reason: string) {
    super('UNAVAILABLE', reason);
  }
}

/** The value of an enum in a sentence: "stopped" for SANDBOX_STOPPED. */
export const wordOf = (name: string): string => name.slice(name.indexOf('_') + 1).toLowerCase();

/** Refuses one field of a request. The message is the field's full name and the problem: `env[A] must have no NUL`. */
export function invalidArgument(field: string, problem: string): ServiceError {
  return new ServiceError('INVALID_ARGUMENT', `${field} ${problem}`);
}
