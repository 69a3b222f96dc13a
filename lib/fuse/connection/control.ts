import type { MessagePort } from 'node:worker_threads';
import { type Code, ServiceError } from '../../errors.ts';
import { Errno, errorCode } from '../../linux/errno.ts';
import type { FileSystem, Notifier } from '../filesystem.ts';
import type { NeededBatches } from './notification-queue.ts';
import type { Steps } from './steps.ts';
import type { Sync } from './sync-threads.ts';

/**
 * A file system with operations that the main thread can call, by name and one at a time, between requests of the
 * kernel.
 */
export interface ControlledFileSystem extends FileSystem {
  /**
   * Starts a long operation as steps; requests are served between them. Returns undefined for an operation that
   * `control` runs. Throws what `control` would throw.
   */
  begin(operation: string, args: readonly unknown[]): Steps<unknown> | undefined;
  /**
   * Runs an operation to its end. Its result is sent to the caller by structured clone; an exception rejects the call;
   * after `Postponed` the operation is run again.
   */
  control(operation: string, args: readonly unknown[]): unknown;
  /**
   * Converts an exception of an operation to the error that its caller receives. A ServiceError keeps its code and
   * details.
   */
  toError(thrown: unknown): unknown;
  /**
   * The workspace that an operation is about, if it is one: answers of operations about others need not wait until many
   * names of it are invalidated.
   */
  subjectOf?(args: readonly unknown[]): string | undefined;
  /** Whether the answer of an operation does not wait for notifications. */
  answersAtOnce?(operation: string, args: readonly unknown[]): boolean;
  /** Called after each operation and after each first slice of a long one. */
  operationEnded(): void;
  /** Called after each request, when released requests have been run again, too. */
  requestEnded(): void;
  /**
   * A sync of `startSync` has ended, with the errno of each of its files or 0; undefined: its thread ended, and it is
   * not known what is durable.
   */
  synced?(id: number, errnos: readonly number[] | undefined): void;
  /**
   * Does some microseconds of work that a later request is likely to need. Called again and again while there is no
   * request, until it returns false: there is nothing to do.
   */
  workAhead?(): boolean;
}

/** What the request worker provides to its file system. */
export interface FileSystemHost {
  notifier: Notifier;
  /** Posts an event to the main thread by structured clone. */
  emit(event: unknown): void;
  /** Runs the steps between requests. */
  startSteps(steps: Steps<unknown>): void;
  /**
   * Runs the requests and operations again that were `Postponed` with this cause, and continues steps that wait for it.
   */
  release(cause: number): void;
  /**
   * Starts a sync in a thread that may wait for the disk, at the end of the current request; `synced` is called at its end.
   * The thread replies to the requests of `answers` if everything is durable.
   */
  startSync(sync: Sync): void;
  /** Replies to the requests that are `AnsweredLater` with this cause: success, or the error. */
  answer(cause: number, error: Errno | undefined): void;
}

/** A message of the main thread to the request worker. */
export interface ControlRequest {
  id: number;
  /**
   * An operation of the file system, or `ping` (does nothing), `stop` (exits the worker), `syncThreadEnded` (a sync thread,
   * by its index, has ended by itself).
   */
  operation: string;
  args: readonly unknown[];
}

/** An error in a form that crosses threads; `code` is set only for a ServiceError. */
export interface ControlError {
  code?: Code;
  message: string;
  details: readonly unknown[];
  stack: string;
  /** Code (such as ENOSPC) and message of the system error that caused a ServiceError. */
  cause?: { code: string | undefined; message: string };
}

/** A message of the request worker to the main thread. */
export type WorkerMessage =
  | { kind: 'ready'; minor: number }
  /** The answer to a call. Valid when all notifications up to these batches are written. */
  | ({ kind: 'answer'; id: number; value?: unknown; error?: ControlError } & NeededBatches)
  /** A partial result, encoded by node:v8; the answer with the rest follows. */
  | { kind: 'part'; id: number; encoded: Uint8Array }
  /** From `FileSystemHost.emit`. */
  | { kind: 'event'; event: unknown }
  /** A sync waits for a sync thread that has not been started. `syncs`: the port of the thread. */
  | { kind: 'startSyncThread'; index: number; syncs: MessagePort }
  | { kind: 'defect'; operation: number; error: ControlError }
  | { kind: 'ended'; reason: string };

/** Converts a thrown value to a form that crosses threads. */
export function encodeError(thrown: unknown): ControlError {
  if (thrown instanceof ServiceError) {
    const { code, message, details, stack = '', cause } = thrown;
    const hosts = cause instanceof Error && {
      cause: { code: errorCode(cause), message: cause.message },
    };
    return { code, message, details, stack, ...hosts };
  }
  if (thrown instanceof Errno) return { message: `refused with errno ${thrown.errno}`, details: [], stack: '' };
  const error = thrown instanceof Error ? thrown : new Error(`not an Error was thrown: ${String(thrown)}`);
  return { message: error.message, details: [], stack: error.stack ?? '' };
}

/** Restores an error of the other thread, with its stack there. */
export function decodeError({ code, message, details, stack, cause }: ControlError): Error {
  const options = cause && { cause: Object.assign(new Error(cause.message), { code: cause.code }) };
  const error = code ? new ServiceError(code, message, details, options) : new Error(message);
  if (stack) error.stack = stack;
  return error;
}
