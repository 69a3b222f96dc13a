import { setFlagsFromString } from 'node:v8';

/**
 * Lets each thread collect its new objects alone. By default V8 divides each of these collections, which take a
 * millisecond or two, among helper threads: while all CPUs are in use, the main thread and the request worker wait for
 * helpers that do not run, and a collection lasts 20 to 80 ms. Call it before other threads are started.
 */
export function collectAlone(): void {
  setFlagsFromString('--no-parallel-scavenge');
}
