import type { Death } from '../../workspaces/workspaces.ts';

/** Deaths longer ago count no more. */
const MEMORY_MS = 10 * 60_000;
/** Deaths while one workspace was served from which on it is not attached. */
const MOST_OF_ONE = 2;
const FIRST_WAIT_MS = 500;
const MOST_WAIT_MS = 10_000;

/**
 * The recent deaths of the workspace file system: how long the next mount waits, so that one that dies again and again
 * costs little, and which workspaces are to be left out because it died while it served them.
 */
export class DeathRecord {
  readonly #now: () => number;
  #deaths: { at: number; death: Death }[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns how many milliseconds are to pass before the file system is mounted again: none after a first death. */
  add(death: Death): number {
    const earlier = this.#recent().length;
    this.#deaths.push({ at: this.#now(), death });
    return earlier === 0 ? 0 : Math.min(FIRST_WAIT_MS * 2 ** (earlier - 1), MOST_WAIT_MS);
  }

  /** Why a workspace is not to be attached now; undefined: it may be. */
  refusal(id: string): string | undefined {
    const own = this.#recent().filter(({ death }) => death.workspace === id);
    const [decisive] = own.slice(-MOST_OF_ONE);
    const last = own.at(-1);
    if (own.length < MOST_OF_ONE || decisive === undefined || last === undefined) return undefined;
    const minutes = Math.ceil((decisive.at + MEMORY_MS - this.#now()) / 60_000);
    return `the workspace file system died ${own.length} times while it served this sandbox (${last.death.reason}); it is tried again in ${minutes} min at the earliest`;
  }

  #recent(): { at: number; death: Death }[] {
    const since = this.#now() - MEMORY_MS;
    this.#deaths = this.#deaths.filter(({ at }) => at > since);
    return this.#deaths;
  }
}
