/** Seconds. On a busy host a shell and its programs can take that long to start. */
const TIMEOUTS = [1, 5, 25];

/**
 * The result of what a timeout ends, once its program came as far as `isFar` says before: with longer timeouts if it did not.
 * Anything else that is wrong is the last result's.
 */
export async function atTimeout<T>(
  attempt: (seconds: number) => Promise<T>,
  isFar: (result: T) => boolean,
): Promise<T> {
  for (const seconds of TIMEOUTS.slice(0, -1)) {
    const result = await attempt(seconds);
    if (isFar(result)) return result;
  }
  return attempt(TIMEOUTS.at(-1)!);
}
