import { setImmediate } from 'node:timers/promises';

/** Milliseconds before signals and other work have their turn. */
const TURN_MS = 10;

/** Lets signals and other work have their turn, and throws if the signal is aborted. */
export function turns(signal?: AbortSignal): () => Promise<void> | undefined {
  let last = performance.now();
  return () => {
    if (performance.now() - last < TURN_MS) return undefined;
    return setImmediate().then(() => {
      signal?.throwIfAborted();
      last = performance.now();
    });
  };
}
