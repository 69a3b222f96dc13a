import type { Steps } from '../../../lib/fuse/connection/steps.ts';
import { Postponed } from '../../../lib/fuse/filesystem.ts';

/** The cause for which a request was postponed. Throws when it was not. */
export function postponedBy(act: () => unknown): number {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof Postponed) return thrown.cause;
    throw thrown;
  }
  throw new Error('it was not postponed');
}

/** Takes all steps; returns their number. */
export function count(steps: Steps<unknown>): number {
  let taken = 1;
  while (!steps.next().done) taken++;
  return taken;
}
