import { randomUUID } from 'node:crypto';
import { ServiceError, toServiceError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Services } from '../lib/services.ts';

export interface ListenerOptions {
  /** Empty host: all interfaces; port 0: any free one. */
  address: { host: string; port: number };
  /** Hosts accepted besides those of the address; see `AcceptedHosts`. */
  allowedHosts?: readonly string[];
  services: Services;
  /** At a time; what comes above it is closed at once. Absent: as many as there are descriptors. */
  maxConnections?: number;
  log: Log;
}

export interface Listener {
  port: number;
  /**
   * Takes no more calls and resolves when those under way are answered. What is not after `graceMs` is told
   * UNAVAILABLE and cut off.
   */
  close(graceMs: number): Promise<void>;
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** The caller's own `x-request-id` where it is a plain word, else a new one. */
export function requestIdFrom(header: unknown): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : randomUUID();
}

/** A call's life as `context.signal` tells it. */
export class CallAbort extends AbortController {
  clientGone(): void {
    this.abort(new ServiceError('CANCELLED', 'the client went away'));
  }

  serverCloses(): void {
    this.abort(new ServiceError('UNAVAILABLE', 'the server is shutting down'));
  }
}

/** What the caller is told of `thrown`. A defect is logged here, the one place, and nothing of it is told. */
export function errorFor(
  thrown: unknown,
  call: { operation: string; requestId: string; signal: AbortSignal; log: Log },
): ServiceError {
  const error = toServiceError(thrown);
  const { operation, requestId, signal, log } = call;
  // An aborted call ends as CANCELLED, or as whatever the abort broke; why it was aborted is what counts.
  if (signal.aborted && signal.reason instanceof ServiceError) return signal.reason;
  if (error.code === 'INTERNAL') log.error('call failed', { operation, requestId, err: error.cause ?? error });
  else log.debug('call refused', { operation, requestId, code: error.code, reason: error.message });
  return error;
}
