import { parentPort } from 'node:worker_threads';
import { encodeThrown, type ThreadRequest } from './thread-messages.ts';

/**
 * Serves one object to the main thread, until it ends this thread. `make`: creates the object anew for each holder of
 * the thread. Methods are synchronous.
 */
export function serveThread<T extends object>(make: () => T): void {
  let served: T | undefined;
  parentPort?.on('message', ({ method, args }: ThreadRequest) => {
    try {
      served ??= make();
      const call = served[method as keyof T] as (...args: readonly unknown[]) => unknown;
      const value = call.apply(served, [...args]);
      parentPort?.postMessage({ value });
    } catch (error) {
      parentPort?.postMessage({ error: encodeThrown(error) });
    }
    if (method === 'close') served = undefined;
  });
}
