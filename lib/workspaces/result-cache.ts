/** Number of cached results: one request may compute two of them in turn. */
const MAX_KEPT = 4;

/** A result, or an exception that `result` throws, for one generation of the workspace. */
export interface CachedResult {
  key: readonly unknown[];
  generation: number;
  result: () => unknown;
}

/** Results that were computed for postponed requests, which use them when they are run again. */
export class ResultCache {
  /** Oldest first. */
  #kept: CachedResult[] = [];

  /** Adds a result and drops the oldest beyond the limit. */
  store(finding: CachedResult): void {
    this.#kept.push(finding);
    if (this.#kept.length > MAX_KEPT) this.#kept.shift();
  }

  /** Removes and returns the result of a key, if any. Results of other generations are dropped. */
  take(key: readonly unknown[], generation: number): CachedResult | undefined {
    this.#kept = this.#kept.filter((each) => each.generation === generation);
    const at = this.#kept.findIndex((each) => key.every((part, index) => part === each.key[index]));
    return at === -1 ? undefined : this.#kept.splice(at, 1)[0];
  }
}
