import { type Code, ServiceError } from '../errors.ts';
import type { RateState } from './token-bucket.ts';

/** Type of the detail that says when a call may be repeated. */
export const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo';

/** google.rpc.RetryInfo as JSON. */
export interface RetryInfo {
  '@type': typeof RETRY_INFO;
  /** Seconds, like "0.250s". */
  retryDelay: string;
}

interface RefusalOptions {
  /** Milliseconds for which the answer is to be held back. */
  holdMs?: number;
  /** Milliseconds after which a repetition may succeed; absent: it cannot be known. */
  retryAfterMs?: number;
  /** The rate that was exceeded. */
  rate?: RateState | undefined;
}

/** The refusal of a call before its handler has run, with what the answer says in the headers of its protocol. */
export class Refusal extends ServiceError {
  readonly holdMs: number;
  readonly retryAfterMs: number | undefined;
  readonly rate: RateState | undefined;

  constructor(code: Code, message: string, { holdMs = 0, retryAfterMs, rate }: RefusalOptions) {
    super(code, message, retryAfterMs === undefined ? [] : [retryInfo(retryAfterMs)]);
    this.holdMs = holdMs;
    this.retryAfterMs = retryAfterMs;
    this.rate = rate;
  }
}

function retryInfo(ms: number): RetryInfo {
  return { '@type': RETRY_INFO, retryDelay: `${(ms / 1000).toFixed(3)}s` };
}

export function isRetryInfo(detail: unknown): detail is RetryInfo {
  return typeof detail === 'object' && detail !== null && '@type' in detail && detail['@type'] === RETRY_INFO;
}
