import { type Code, ServiceError } from '../../errors.ts';
import { Errno } from '../../linux/errno.ts';
import type { FileSystem, Notifier } from '../filesystem.ts';
import type { Steps } from './steps.ts';

/** A file system that the main thread calls, too: operations by their names, one at a time between the kernel's requests. */
export interface ControlledFileSystem extends FileSystem {
  /**
   * An operation that may take long, as steps between which requests are served. undefined: `control` is called instead.
   * Throws what `control` would.
   */
  begin(operation: string, args: readonly unknown[]): Steps<unknown> | undefined;
  /** Runs an operation. Its value goes to the caller by structured clone; an error rejects the call; Postponed: run again. */
  control(operation: string, args: readonly unknown[]): unknown;
  /** What the caller of an operation is told of what it threw: a ServiceError keeps its code and details. */
  toError(thrown: unknown): unknown;
  /** Called when an operation, or a step of one, is over. */
  operationEnded(): void;
  /** Called when a request is over and all that was postponed and released was run again. */
  requestEnded(): void;
}

/** What the thread of a file system offers it. */
export interface FileSystemHost {
  notifier: Notifier;
  /** Posts an event to the main thread by structured clone. */
  emit(event: unknown): void;
  /** Continues the steps between requests. */
  startSteps(steps: Steps<unknown>): void;
  /** Runs again what was Postponed by this cause. */
  release(cause: number): void;
}

export interface ControlRequest {
  id: number;
  /** One of the file system's, or `ping`, which only answers, or `stop`, which ends the worker. */
  operation: string;
  args: readonly unknown[];
}

/** An error as it crosses threads; `code` only for a ServiceError. */
export interface ControlError {
  code?: Code;
  message: string;
  details: readonly unknown[];
  stack: string;
  /** The errno and the message of the host's error that a ServiceError was made of. */
  cause?: { code: string | undefined; message: string };
}

/** What the worker posts to the main thread. */
export type WorkerMessage =
  | { kind: 'ready'; minor: number }
  /** Holds when the notifications up to `batch` were written. */
  | { kind: 'answer'; id: number; value?: unknown; error?: ControlError; batch: number }
  /** Comes before the answer, which has the rest. */
  | { kind: 'part'; id: number; value: unknown }
  /** From `FileSystemHost.emit`. */
  | { kind: 'event'; event: unknown }
  | { kind: 'defect'; operation: number; error: ControlError }
  | { kind: 'ended'; reason: string };

export function encodeError(thrown: unknown): ControlError {
  if (thrown instanceof ServiceError) {
    const { code, message, details, stack = '', cause } = thrown;
    const hosts = cause instanceof Error && {
      cause: { code: (cause as NodeJS.ErrnoException).code, message: cause.message },
    };
    return { code, message, details, stack, ...hosts };
  }
  if (thrown instanceof Errno) return { message: `refused with errno ${thrown.errno}`, details: [], stack: '' };
  const error = thrown instanceof Error ? thrown : new Error(`not an Error was thrown: ${String(thrown)}`);
  return { message: error.message, details: [], stack: error.stack ?? '' };
}

export function decodeError({ code, message, details, stack, cause }: ControlError): Error {
  const options = cause && { cause: Object.assign(new Error(cause.message), { code: cause.code }) };
  const error = code ? new ServiceError(code, message, details, options) : new Error(message);
  if (stack) error.stack = stack;
  return error;
}
