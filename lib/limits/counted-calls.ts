import type { CallLimits, Count } from './limits.ts';
import { Places } from './places.ts';
import { RefusalPace } from './refusal-pace.ts';
import { type Rate, type RateState, TokenBucket } from './token-bucket.ts';

/** A limit that a call would exceed. */
export interface Exceeded {
  limit: keyof CallLimits;
  /** What is allowed; completes "the key may". */
  allowed: string;
  /** Milliseconds until a repetition may succeed. */
  retryAfterMs: number;
  rate?: RateState | undefined;
}

/** The end of a command or stream cannot be foreseen. */
const RETRY_MS = 1000;
/** Refusals that are answered at once: those of a client that meets its limit now and then. */
const PROMPT = { perSecond: 5, burst: 20 };

/**
 * Lists at the same time: one is sent while the next one is made. The threat: the answers of hundreds, of megabytes each, fill the
 * heap, and its collection and their work in one turn of the event loop delay all others by seconds.
 */
const LISTS = 4;

/** The calls of one key, or of all keys of one owner, as far as they are limited. */
export class CountedCalls {
  readonly pace: RefusalPace;
  readonly lists = new Places(LISTS);
  readonly #requests: TokenBucket;
  readonly #creates: TokenBucket;
  #commands = 0;
  #streams = 0;
  #lists = 0;
  #lastAt: number;
  readonly #now: () => number;

  /** `now`: a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
    this.#requests = new TokenBucket(now);
    this.#creates = new TokenBucket(now);
    this.pace = new RefusalPace(PROMPT, now);
    this.#lastAt = now();
  }

  /** The first limit that a further call with these counts would exceed. Takes nothing. */
  exceeded(limits: CallLimits, counts: readonly Count[]): Exceeded | undefined {
    this.#lastAt = this.#now();
    return (
      this.#requestsExceeded(limits, counts) ??
      this.#atOnceExceeded(limits, counts) ??
      this.#createsExceeded(limits, counts)
    );
  }

  /** Counts a call that exceeds nothing. Must be followed by `end` with the same counts, without an await before it. */
  begin(limits: CallLimits, counts: readonly Count[]): void {
    if (!counts.includes('connection')) this.#requests.take(requestRate(limits));
    for (const count of counts) {
      if (count === 'create') this.#creates.take(createRate(limits));
      else if (count === 'command') this.#commands++;
      else if (count === 'list') this.#lists++;
      else this.#streams++;
    }
  }

  end(counts: readonly Count[]): void {
    for (const count of counts) {
      if (count === 'command') this.#commands--;
      else if (count === 'list') this.#lists--;
      else if (count !== 'create') this.#streams--;
    }
  }

  /** What is left of the requests; undefined: they are not limited. */
  requests(limits: CallLimits): RateState | undefined {
    return this.#requests.state(requestRate(limits));
  }

  /** Whether forgetting it changes nothing: no call is counted, and for `ms` there was none. */
  isIdle(ms: number): boolean {
    return this.#commands + this.#streams + this.#lists === 0 && this.#now() - this.#lastAt > ms;
  }

  #requestsExceeded(limits: CallLimits, counts: readonly Count[]): Exceeded | undefined {
    if (counts.includes('connection')) return undefined;
    const rate = requestRate(limits);
    const retryAfterMs = this.#requests.wait(rate);
    if (retryAfterMs === 0) return undefined;
    const allowed = `make at most ${rate.perSecond} requests per second, and at most ${rate.burst} at once`;
    return { limit: 'requests_per_second', allowed, retryAfterMs, rate: this.#requests.state(rate) };
  }

  #atOnceExceeded({ commands, streams }: CallLimits, counts: readonly Count[]): Exceeded | undefined {
    if (counts.includes('command') && commands > 0 && this.#commands >= commands) {
      return {
        limit: 'commands',
        allowed: `run at most ${commands} commands at the same time`,
        retryAfterMs: RETRY_MS,
      };
    }
    const isStream = counts.includes('stream') || counts.includes('connection');
    if (isStream && streams > 0 && this.#streams >= streams) {
      const allowed = `have at most ${streams} streams, uploads and downloads at the same time`;
      return { limit: 'streams', allowed, retryAfterMs: RETRY_MS };
    }
    return undefined;
  }

  #createsExceeded(limits: CallLimits, counts: readonly Count[]): Exceeded | undefined {
    if (!counts.includes('create')) return undefined;
    const rate = createRate(limits);
    const retryAfterMs = this.#creates.wait(rate);
    if (retryAfterMs === 0) return undefined;
    const allowed = `create at most ${rate.burst} sandboxes, codebases, checkpoints and keys per minute`;
    return { limit: 'creates_per_minute', allowed, retryAfterMs, rate: this.#creates.state(rate) };
  }
}

function requestRate({ requests_per_second: perSecond, request_burst: burst }: CallLimits): Rate {
  return { perSecond, burst: burst || perSecond };
}

function createRate({ creates_per_minute: perMinute }: CallLimits): Rate {
  return { perSecond: perMinute / 60, burst: perMinute };
}
