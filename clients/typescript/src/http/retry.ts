import {
  ConnectionFailedError,
  NotFoundError,
  type PaddockError,
  RateLimitError,
  UnavailableError,
} from '../errors.ts';
import type { Row } from './call.ts';

/** A call that may be repeated only later than this fails at once. */
const MAX_WAIT_S = 60;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5000;

export interface Repetition {
  row: Row;
  maxRetries: number;
  /** The body of the request can be sent again. */
  again: boolean;
  /** The call has no further effect if it is repeated. */
  repeatable: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Repeats a call that failed and whose repetition is safe: one that was refused before it took effect (429, or without
 * a connection); and one whose answer was lost, if the operation has no further effect, or an idempotency key.
 */
export async function repeated<T>(call: () => Promise<T>, repetition: Repetition): Promise<T> {
  const { row, maxRetries, signal } = repetition;
  let lost = false;
  for (let attempt = 0; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (lost && row.method === 'DELETE' && isRemoved(error, row))
        return (row.empty ? undefined : { removed: 0 }) as T;
      if (attempt >= maxRetries || !mayRepeat(error, repetition)) throw error;
      lost ||= error instanceof ConnectionFailedError ? !error.unsent : error instanceof UnavailableError;
      await delay(waitOf(error, attempt), signal);
    }
  }
}

/** What the first call removed is not there for the second one. Only DeleteFile's answer has a field. */
function isRemoved(error: unknown, row: Row): boolean {
  return error instanceof NotFoundError && (row.empty === true || error.resourceType !== 'sandbox');
}

type Repeated = Pick<Repetition, 'row' | 'again' | 'repeatable'>;

export function mayRepeat(error: unknown, { row, again, repeatable }: Repeated): error is PaddockError {
  if (!again) return false;
  if (error instanceof RateLimitError) return error.retryAfter <= MAX_WAIT_S;
  if (error instanceof ConnectionFailedError && error.unsent) return true;
  if (!(error instanceof ConnectionFailedError || error instanceof UnavailableError)) return false;
  return repeatable || row.retry !== 'again';
}

/** Milliseconds. Doubled with each attempt, and random, so that many clients do not come back at the same moment. */
export function waitOf(error: PaddockError, attempt: number): number {
  const backoff = Math.min(FIRST_WAIT_MS * 2 ** attempt, LONGEST_WAIT_MS) * (0.5 + Math.random() / 2);
  return error instanceof RateLimitError ? error.retryAfter * 1000 + backoff : backoff;
}

/** Rejects with the reason of the signal. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = () => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    };
    const timer = setTimeout(done, ms);
    const aborted = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    if (signal?.aborted) return aborted();
    signal?.addEventListener('abort', aborted, { once: true });
  });
}
