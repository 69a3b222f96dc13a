/** The result of work that can be interrupted where it yields. */
export type Steps<T> = Generator<undefined, T, void>;

/** Entries of a list or a map that are read or checked in one step. A request may have thousands. */
export const ENTRIES_PER_STEP = 256;

/** All steps at once. */
export function complete<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
