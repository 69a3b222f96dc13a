import { ServiceError } from '../errors.ts';
import { Refusal } from '../limits/refusal.ts';
import { RefusalPace } from '../limits/refusal-pace.ts';

/** Calls without a valid key that are answered at once, of all clients together. */
const PROMPT = { perSecond: 20, burst: 100 };

/**
 * Returns a function that runs a check of a key. The threat: a flood of calls with wrong keys. Beyond a few a second
 * their answers are held back. `now`: a monotonic clock in milliseconds.
 */
export function pacedChecks(now: () => number): <T>(check: () => T) => T {
  const pace = new RefusalPace(PROMPT, now);
  return (check) => {
    try {
      return check();
    } catch (error) {
      const holdMs = pace.next();
      if (holdMs === 0 || !(error instanceof ServiceError)) throw error;
      throw new Refusal(error.code, error.message, { holdMs });
    }
  };
}
