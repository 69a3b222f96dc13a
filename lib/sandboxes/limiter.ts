/** Those that had their turn are kept until there are so many. */
const MOST_PASSED = 1024;

/** Returns a function that runs tasks, at most `atOnce` at a time, in order of arrival. */
export function limiter(atOnce: number): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0;
  let waiting: (() => void)[] = [];
  /** Those before it have had their turn; to take each from the array would move all others. */
  let first = 0;
  return async (task) => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await task();
    } finally {
      // The slot is passed on directly, so that no later task can take it.
      const next = waiting[first++];
      if (next) next();
      else running--;
      if (next === undefined || (first >= MOST_PASSED && first * 2 >= waiting.length)) {
        waiting = waiting.slice(first);
        first = 0;
      }
    }
  };
}

/** Runs `task` on every item, at most `atOnce` at a time. `task` must handle its own errors. */
export async function each<T>(items: Iterable<T>, atOnce: number, task: (item: T) => Promise<void>): Promise<void> {
  const left = [...items].values();
  const worker = async () => {
    for (const item of left) await task(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
