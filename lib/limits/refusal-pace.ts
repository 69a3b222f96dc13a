import { type Rate, TokenBucket } from './token-bucket.ts';

/**
 * The answers of further refusals are held for this time. A client that repeats its calls as soon as they are answered
 * then makes one call a second on each of its connections.
 */
const HOLD_MS = 1000;

/** Decides for how long the answers of refused calls are held back. */
export class RefusalPace {
  readonly #prompt: TokenBucket;
  readonly #rate: Rate;

  /** `prompt`: the refusals that are answered at once. `now`: a monotonic clock in milliseconds. */
  constructor(prompt: Rate, now: () => number) {
    this.#rate = prompt;
    this.#prompt = new TokenBucket(now);
  }

  /** Call for each refusal. Returns the milliseconds for which its answer is to be held. */
  next(): number {
    if (this.#prompt.wait(this.#rate) > 0) return HOLD_MS;
    this.#prompt.take(this.#rate);
    return 0;
  }
}
