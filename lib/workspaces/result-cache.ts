/** Results that are kept for requests to be run again: one may find out two things after each other. */
const MAX_KEPT = 4;

export interface CachedResult {
  key: readonly unknown[];
  generation: number;
  result: () => unknown;
}

/** What was found out about a workspace for requests that are run again. */
export class ResultCache {
  /** The latest last. */
  #kept: CachedResult[] = [];

  store(finding: CachedResult): void {
    this.#kept.push(finding);
    if (this.#kept.length > MAX_KEPT) this.#kept.shift();
  }

  /** Gives each once. What was found in an earlier generation is dropped. */
  take(key: readonly unknown[], generation: number): CachedResult | undefined {
    this.#kept = this.#kept.filter((each) => each.generation === generation);
    const at = this.#kept.findIndex((each) => key.every((part, index) => part === each.key[index]));
    return at === -1 ? undefined : this.#kept.splice(at, 1)[0];
  }
}
