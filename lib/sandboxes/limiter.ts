/** Returns a function that runs tasks, at most `atOnce` at a time, in order of arrival. */
export function limiter(atOnce: number): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await task();
    } finally {
      // The slot is passed on directly, so that no later task can take it.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}

/** Runs `task` on every item, at most `atOnce` at a time. `task` must handle its own errors. */
export async function each<T>(items: Iterable<T>, atOnce: number, task: (item: T) => Promise<void>): Promise<void> {
  const limited = limiter(atOnce);
  await Promise.all([...items].map((item) => limited(() => task(item))));
}
