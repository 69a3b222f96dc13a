import type { Closable, Remote, SharedThreads, Threads } from './thread-pool.ts';

/** Objects in the caller's thread, for tools and tests without a bundle: their steps hold it. */
export function inSameThread<T extends Closable>(make: () => T): Threads<T> & SharedThreads<T> {
  const threads = {
    of: () => threads,
    async take() {
      const served = make();
      const get = (_: object, method: string | symbol) =>
        method === 'then' ? undefined : async (...args: readonly unknown[]) => callOf(served, method)(...args);
      return { remote: new Proxy({}, { get }) as Remote<T>, release: async () => served.close() };
    },
  };
  return threads;
}

function callOf(served: object, method: string | symbol): (...args: readonly unknown[]) => unknown {
  const call = served[method as keyof typeof served] as (...args: readonly unknown[]) => unknown;
  return call.bind(served);
}
