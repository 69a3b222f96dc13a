/** Milliseconds of one turn of a thread. */
const TURN = 4;

/**
 * Gives steps a share of a core: each call runs them for one turn, and answers with the milliseconds after which to call again;
 * undefined at their end. `each` gets what they yield.
 */
export function atShare<T>(
  steps: Iterator<T>,
  share: number,
  each: (value: T) => void,
  now: () => number = () => performance.now(),
): () => number | undefined {
  return () => {
    const start = now();
    let used = 0;
    do {
      const { value, done } = steps.next();
      if (done) return undefined;
      each(value);
      used = now() - start;
    } while (used < TURN);
    return used / share - used;
  };
}
