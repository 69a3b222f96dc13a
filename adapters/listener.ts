import { randomUUID } from 'node:crypto';
import type { Operation } from '../handlers/index.ts';
import { ServiceError } from '../lib/errors.ts';
import { isHostFault, toServiceError } from '../lib/host-error.ts';
import type { Log } from '../lib/log.ts';
import type { PreviewDomain } from '../lib/network/ports/preview-domain.ts';
import type { Services } from '../lib/services.ts';
import type { ServerTls } from './tls/server-tls.ts';

/** Maximum bytes of a request that is one message; it may contain the standard input of a command. */
export const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

export interface ListenerOptions {
  /** An empty host means all interfaces; port 0 means any free port. */
  address: { host: string; port: number };
  /** Hosts accepted in addition to those of the address; see `AcceptedHosts`. */
  allowedHosts?: readonly string[];
  services: Services;
  /**
   * Maximum number of simultaneous connections. New ones replace idle ones; when all are busy, further ones are closed at
   * once. Absent: limited by descriptors only.
   */
  maxConnections?: number;
  /** Absent: plain text. */
  tls?: ServerTls | undefined;
  /** Of the REST listener. Absent: all of the service. */
  operations?: readonly Operation[];
  /** Of the REST listener. Absent: opened ports are reached by path only. */
  previewDomain?: PreviewDomain | undefined;
  log: Log;
}

export interface Listener {
  port: number;
  /**
   * Accepts no more calls and resolves when all calls in progress have finished. After `graceMs` milliseconds the
   * remaining calls are aborted with UNAVAILABLE and their connections closed.
   */
  close(graceMs: number): Promise<void>;
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** The caller's `x-request-id` if it is a single word, otherwise a new id. */
export function requestIdFrom(header: unknown): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : randomUUID();
}

/** Milliseconds between aborting a call and closing its connection, for the call to send its response. */
export const ABORT_GRACE_MS = 1000;

/** The abort controller of a call; the abort reason is the error for the caller. */
export class CallAbort extends AbortController {
  /** Aborts the call, and runs `close` if it should not have ended after the grace period. */
  refuse(reason: ServiceError, close: () => void): void {
    this.abort(reason);
    setTimeout(close, ABORT_GRACE_MS).unref();
  }

  clientGone(): void {
    this.abort(new ServiceError('CANCELLED', 'the client disconnected'));
  }

  serverCloses(): void {
    this.abort(new ServiceError('UNAVAILABLE', 'the server is shutting down'));
  }
}

/**
 * Converts `thrown` to the error for the caller. A defect is logged here, and only here; the caller gets none of its
 * text.
 */
export function errorFor(
  thrown: unknown,
  call: { operation: string; requestId: string; signal: AbortSignal; log: Log },
): ServiceError {
  const error = toServiceError(thrown);
  const { operation, requestId, signal, log } = call;
  // An aborted call can fail with any error that the abort caused; the reason of the abort takes precedence.
  if (signal.aborted && signal.reason instanceof ServiceError) return signal.reason;
  if (error.code === 'INTERNAL') log.error('call failed', { operation, requestId, err: error.cause ?? error });
  else if (isHostFault(error.cause)) log.warn('the host failed a call', { operation, requestId, err: error.cause });
  else log.debug('call refused', { operation, requestId, code: error.code, reason: error.message });
  return error;
}
