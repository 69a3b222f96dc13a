import { setImmediate } from 'node:timers/promises';

/** Work that gives way at each `yield`: between two of them it takes far less than a millisecond. */
export type Slices<T> = Generator<void, T, void>;

/** Steps of loops over lines between two yields. */
export const STEPS_AT_ONCE = 4096;

/** The longest that the event loop waits for such work, in milliseconds. */
const SLICE_MS = 4;

/** Runs the work in slices, with other events served in between. */
export async function inSlices<T>(work: Slices<T>): Promise<T> {
  for (;;) {
    const until = performance.now() + SLICE_MS;
    do {
      const { done, value } = work.next();
      if (done) return value;
    } while (performance.now() < until);
    await setImmediate();
  }
}
