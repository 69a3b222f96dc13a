/** `perSecond`: 0 is no limit. `burst`: tokens of a full bucket. */
export interface Rate {
  perSecond: number;
  burst: number;
}

/** What is left of a rate. */
export interface RateState {
  /** Tokens of a full bucket. */
  limit: number;
  remaining: number;
  /** Milliseconds until the bucket is full. */
  resetMs: number;
}

/** A token bucket: full at first, and refilled continuously. The rate is given with each call, because it may change. */
export class TokenBucket {
  readonly #now: () => number;
  #tokens = Number.POSITIVE_INFINITY;
  #at: number;

  /** `now`: a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
    this.#at = now();
  }

  /** Milliseconds until there is a token; 0: now. */
  wait(rate: Rate): number {
    if (rate.perSecond === 0) return 0;
    const tokens = this.#refill(rate);
    return tokens >= 1 ? 0 : Math.max(1, Math.ceil(((1 - tokens) * 1000) / rate.perSecond));
  }

  /** Takes a token, which there must be: `wait` is 0. */
  take(rate: Rate): void {
    if (rate.perSecond !== 0) this.#tokens = Math.max(0, this.#refill(rate) - 1);
  }

  /** undefined: there is no limit. */
  state(rate: Rate): RateState | undefined {
    if (rate.perSecond === 0) return undefined;
    const tokens = this.#refill(rate);
    const resetMs = Math.ceil(((rate.burst - tokens) * 1000) / rate.perSecond);
    return { limit: rate.burst, remaining: Math.floor(tokens), resetMs };
  }

  #refill({ perSecond, burst }: Rate): number {
    const now = this.#now();
    this.#tokens = Math.min(burst, this.#tokens + (Math.max(0, now - this.#at) * perSecond) / 1000);
    this.#at = now;
    return this.#tokens;
  }
}
