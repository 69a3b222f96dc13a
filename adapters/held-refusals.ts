import type { ServiceError } from '../lib/errors.ts';
import { Refusal } from '../lib/limits/refusal.ts';

/** A held answer keeps its connection and about a kilobyte. Further refusals are answered at once. */
const MAX_HELD = 4096;

/**
 * Holds back the answers of refused calls, as their `holdMs` says. A client that repeats refused calls then waits
 * instead of keeping the server busy with further refusals.
 */
export class HeldRefusals {
  #held = 0;
  readonly #most: number;

  constructor(most = MAX_HELD) {
    this.#most = most;
  }

  /**
   * Resolves when `error` is to be answered: at once if the call was aborted, or if too many answers are held. `least`
   * is asked for an answer that is held, and returns the milliseconds for which it is held at least.
   */
  async hold(error: ServiceError, signal: AbortSignal, least: () => number = () => 0): Promise<void> {
    if (!(error instanceof Refusal) || error.holdMs === 0 || signal.aborted || this.#held >= this.#most) return;
    this.#held++;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, Math.max(error.holdMs, least()));
      signal.addEventListener('abort', end);
    });
    this.#held--;
  }
}
