import { setImmediate } from 'node:timers/promises';

/** Work that can be interrupted at each `yield`; the time between two yields is far below a millisecond. */
export type Slices<T> = Generator<void, T, void>;

/** Iterations of loops over lines between two yields. */
export const ITERATIONS_PER_SLICE = 4096;

/** Maximum milliseconds for which such work blocks the event loop. */
const SLICE_MS = 4;

/** Runs the work in slices, with other events handled in between. */
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
