import type { FileSystemExit } from '../../workspaces/workspaces.ts';

/** Milliseconds after which a failure is forgotten. */
const MEMORY_MS = 10 * 60_000;
/** Number of failures while serving one workspace after which that workspace is not attached. */
const MAX_FAILURES = 2;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 10_000;

/**
 * Recent failures of the workspace file system. They determine the delay before the next mount, so that repeated
 * failures cost little, and the workspaces that are not attached because the file system failed while serving them.
 */
export class FailureHistory {
  readonly #now: () => number;
  #failures: { at: number; exit: FileSystemExit }[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the milliseconds to wait before the next mount: 0 after a first failure. */
  add(exit: FileSystemExit): number {
    const earlier = this.#recent().length;
    this.#failures.push({ at: this.#now(), exit });
    return earlier === 0 ? 0 : Math.min(FIRST_WAIT_MS * 2 ** (earlier - 1), MAX_WAIT_MS);
  }

  /** The reason not to attach a workspace now; undefined: it may be attached. */
  refusal(id: string): string | undefined {
    const own = this.#recent().filter(({ exit }) => exit.workspace === id);
    const [decisive] = own.slice(-MAX_FAILURES);
    const last = own.at(-1);
    if (own.length < MAX_FAILURES || decisive === undefined || last === undefined) return undefined;
    const minutes = Math.ceil((decisive.at + MEMORY_MS - this.#now()) / 60_000);
    return `the workspace file system died ${own.length} times while it served this sandbox (${last.exit.reason}); it is tried again in ${minutes} min at the earliest`;
  }

  #recent(): { at: number; exit: FileSystemExit }[] {
    const since = this.#now() - MEMORY_MS;
    this.#failures = this.#failures.filter(({ at }) => at > since);
    return this.#failures;
  }
}
