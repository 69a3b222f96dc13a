import { isSelection } from './changes.ts';
import type { PullOptions } from './local/pull.ts';

/** What pulls of a sandbox did not bring, and is nowhere else. */
export class Unpulled {
  #paths: readonly string[] = [];
  /** Errors of pulls, by what they were to bring. */
  readonly #failed = new Map<string, unknown>();

  failed(options: PullOptions, error: unknown): void {
    this.#failed.set(choiceOf(options), error);
  }

  /** `left`: paths that another pull may bring. */
  pulled(options: PullOptions, { left, brought }: { left: readonly string[]; brought: readonly string[] }): void {
    const isBrought = new Set(brought);
    this.#paths = [...new Set([...this.#paths.filter((path) => !isBrought.has(path)), ...left])];
    if (isSelection(options) || options.only !== undefined) this.#failed.delete(choiceOf(options));
    else this.#failed.clear();
  }

  clear(): void {
    this.#paths = [];
    this.#failed.clear();
  }

  /** For people. undefined: nothing is left. */
  get told(): string | undefined {
    const [error] = [...this.#failed.values()];
    if (this.#failed.size > 0) return `a pull of its changes failed (${(error as Error)?.message ?? error})`;
    if (this.#paths.length === 0) return undefined;
    return `${this.#paths.length} of its changes could not be pulled, for example ${JSON.stringify(this.#paths[0])}`;
  }
}

const choiceOf = ({ paths, exclude, only, hunks }: PullOptions): string =>
  JSON.stringify([paths, exclude, only !== undefined, hunks]);
