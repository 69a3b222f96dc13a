import type { ServerResponse } from 'node:http';
import type { ServiceError } from '../../lib/errors.ts';
import { Refusal } from '../../lib/limits/refusal.ts';
import type { RateState } from '../../lib/limits/token-bucket.ts';

/**
 * Sets the three fields of draft-ietf-httpapi-ratelimit-headers-06 (the later ones of the draft are one structured
 * field, which few clients read): the requests at once, those that are left, and the seconds until all are back.
 */
export function setRateHeaders(res: ServerResponse, rate: RateState | undefined): void {
  if (rate === undefined) return;
  res.setHeader('ratelimit-limit', rate.limit);
  res.setHeader('ratelimit-remaining', rate.remaining);
  res.setHeader('ratelimit-reset', Math.ceil(rate.resetMs / 1000));
}

/** `Retry-After` (RFC 9110 section 10.2.3) and the rate of a refused call. The headers must not be sent yet. */
export function setRefusalHeaders(res: ServerResponse, error: ServiceError): void {
  if (!(error instanceof Refusal)) return;
  setRateHeaders(res, error.rate);
  if (error.retryAfterMs !== undefined) res.setHeader('retry-after', Math.ceil(error.retryAfterMs / 1000));
}
