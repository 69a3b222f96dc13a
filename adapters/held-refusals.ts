import type { ServiceError } from '../lib/errors.ts';
import { Refusal } from '../lib/limits/refusal.ts';

/** A held answer keeps its connection and about a kilobyte. Further refusals are answered at once. */
const MAX_HELD = 4096;

/** Whether the caller repeats refused calls. */
export function isRepeated(error: ServiceError): error is Refusal {
  return error instanceof Refusal && error.holdMs > 0;
}

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

  /** Resolves when `error` is to be answered: at once if the call was aborted, or if too many answers are held. */
  async hold(error: ServiceError, signal: AbortSignal): Promise<void> {
    if (!isRepeated(error) || signal.aborted || this.#held >= this.#most) return;
    this.#held++;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, error.holdMs);
      signal.addEventListener('abort', end);
    });
    this.#held--;
  }
}
