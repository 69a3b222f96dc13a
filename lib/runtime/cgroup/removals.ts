import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds without a removal until the rest is left: its processes are stuck in the kernel. */
const PATIENCE_MS = 5000;
const ROUND_MS = 5;
/** Cgroups whose processes are killed at a time: on v1 each takes a descriptor. */
const KILLED_AT_ONCE = 64;

export interface RemovalParts {
  /** Returns false while a process is in it. */
  remove(dir: string): boolean;
  /** Kills the processes in it. May throw. */
  kill(dir: string): void | Promise<void>;
  /** Milliseconds instead of PATIENCE_MS. */
  patience?: number;
}

/** Removes cgroups of an earlier server with the processes in them: all of these are killed before any is waited for. */
export class Removals {
  readonly #parts: RemovalParts;
  readonly #patience: number;
  /** The last removal that had to be waited for. */
  #last = performance.now();

  constructor(parts: RemovalParts) {
    this.#parts = parts;
    this.#patience = parts.patience ?? PATIENCE_MS;
  }

  /** Never rejects because of a process: what cannot be removed is left. */
  async removeAll(dirs: readonly string[]): Promise<void> {
    let left = dirs.filter((dir) => !this.#parts.remove(dir));
    while (left.length > 0 && performance.now() - this.#last < this.#patience) {
      for (let from = 0; from < left.length; from += KILLED_AT_ONCE) {
        await Promise.all(left.slice(from, from + KILLED_AT_ONCE).map((dir) => this.#kill(dir)));
      }
      await delay(ROUND_MS);
      const next = left.filter((dir) => !this.#parts.remove(dir));
      if (next.length < left.length) this.#last = performance.now();
      left = next;
    }
  }

  async #kill(dir: string): Promise<void> {
    try {
      await this.#parts.kill(dir);
    } catch {
      // What is left is killed in the next round.
    }
  }
}
