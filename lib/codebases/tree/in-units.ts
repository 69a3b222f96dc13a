import type { Run } from './tree-parts.ts';

/** Of one piece of work, before another one has its turn. */
const UNIT_MS = 4;

/** Runs steps in units of a few milliseconds; between them, those of others, and events of the thread. */
export const inUnits: Run = async (steps) => {
  for (;;) {
    const began = performance.now();
    do {
      const { done, value } = steps.next();
      if (done) return value;
    } while (performance.now() - began < UNIT_MS);
    await new Promise(setImmediate);
  }
};
