import { isSelection } from './changes.ts';
import type { PullOptions } from './local/pull.ts';

/** What pulls of a sandbox did not bring, and is nowhere else. */
export class Unpulled {
  #paths: readonly string[] = [];
  /** Errors of pulls, with what they were to bring. */
  #failed: readonly { choice: Choice; error: unknown }[] = [];
  /** Of a pull that could not begin, since the last one that did. */
  #refusal: Error | undefined;

  refused(error: Error): void {
    this.#refusal = error;
  }

  failed(options: PullOptions, error: unknown): void {
    const choice = choiceOf(options);
    this.#failed = [...this.#failed.filter((each) => !includes(choice, each.choice)), { choice, error }];
  }

  /** `left`: paths that another pull may bring. */
  pulled(options: PullOptions, { left, brought }: { left: readonly string[]; brought: readonly string[] }): void {
    this.#refusal = undefined;
    const isBrought = new Set(brought);
    this.#paths = [...new Set([...this.#paths.filter((path) => !isBrought.has(path)), ...left])];
    const choice = choiceOf(options);
    this.#failed = this.#failed.filter((each) => !includes(choice, each.choice));
  }

  clear(): void {
    this.#paths = [];
    this.#failed = [];
    this.#refusal = undefined;
  }

  /** For people. undefined: nothing is left. */
  get told(): string | undefined {
    const [first] = this.#failed;
    if (first) return `a pull of its changes failed (${(first.error as Error)?.message ?? first.error})`;
    const [path] = this.#paths;
    if (path !== undefined)
      return `${this.#paths.length} of its changes could not be pulled, for example ${JSON.stringify(path)}`;
    return this.#refusal && `a pull of its changes was refused (${this.#refusal.message})`;
  }
}

interface Choice {
  isAll: boolean;
  selection: string;
  hasHunks: boolean;
  only: PullOptions['only'];
  includeScratch: boolean;
  git: boolean;
}

function choiceOf({ paths, exclude, only, hunks = [], includeScratch, git }: PullOptions): Choice {
  return {
    ...{ isAll: !isSelection({ paths, exclude, hunks }) && !only, selection: JSON.stringify([paths, exclude, hunks]) },
    ...{
      hasHunks: hunks.length > 0,
      only: only ?? undefined,
      includeScratch: includeScratch ?? false,
      git: git ?? false,
    },
  };
}

/** Whether one choice surely has all that is in the other: of two functions it is not known. */
function includes(one: Choice, other: Choice): boolean {
  if ((other.includeScratch && !one.includeScratch) || (other.git && !one.git)) return false;
  const isWider = one.only === undefined && !one.hasHunks;
  return one.isAll || (one.selection === other.selection && (isWider || one.only === other.only));
}
