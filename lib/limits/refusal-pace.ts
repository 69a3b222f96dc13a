import { type Rate, TokenBucket } from './token-bucket.ts';

/**
 * The answers of further refusals are held for about this time. A client that repeats its calls as soon as they are
 * answered then makes one call a second on each of its connections.
 */
const HOLD_MS = 1000;
/** Successive multiples of it, without their whole parts, are spread evenly between 0 and 1. */
const GOLDEN_RATIO = 0.618_034;

/** Decides for how long the answers of refused calls are held back. */
export class RefusalPace {
  readonly #prompt: TokenBucket;
  readonly #rate: Rate;
  #held = 0;

  /** `prompt`: the refusals that are answered at once. `now`: a monotonic clock in milliseconds. */
  constructor(prompt: Rate, now: () => number) {
    this.#rate = prompt;
    this.#prompt = new TokenBucket(now);
  }

  /** Call for each refusal. Returns the milliseconds for which its answer is to be held. */
  next(): number {
    // Spread, so that the calls of many connections do not come back at the same moment.
    if (this.#prompt.wait(this.#rate) > 0) return Math.round(HOLD_MS * (0.5 + ((this.#held++ * GOLDEN_RATIO) % 1)));
    this.#prompt.take(this.#rate);
    return 0;
  }
}
