import { EDQUOT } from '../linux/errno.ts';

/** Bytes of this process's memory that a node which the kernel knows takes, as measured (`memory.test.ts`). */
export const NODE_BYTES = 560;
/** A name of a directory's listing. */
export const LISTED_BYTES = 150;
/** What makes room may need some first; and the kernel takes its time to forget. */
const SLACK = 2;
const SLACK_OF_ALL = 1.25;

/** One of those who share the memory of the thread. */
export interface MemoryHolder {
  /** Bytes it takes; what it shares with others counts for each. */
  readonly memory: number;
  /** Bytes that it alone takes. */
  readonly ownMemory: number;
  /** 0: no limit of its own. */
  readonly maxMemory: number;
}

/**
 * The memory of the thread that serves all workspaces. Each has a limit of its own; and before all together come to what
 * the thread has, those that have more than an equal part of it are refused more.
 */
export class MemoryBudget {
  readonly #holders = new Set<MemoryHolder>();
  readonly #limit: number;
  readonly #shared: () => number;

  /** `limit`: bytes for all. `shared`: what no holder has alone. */
  constructor(limit: number, shared: () => number) {
    this.#limit = limit;
    this.#shared = shared;
  }

  add(holder: MemoryHolder): void {
    this.#holders.add(holder);
  }

  delete(holder: MemoryHolder): void {
    this.#holders.delete(holder);
  }

  /** Throws EDQUOT when the holder may not have so much more. `slack`: what is in the way of none of that goes a bit further. */
  claim(holder: MemoryHolder, bytes: number, slack: boolean): void {
    if (bytes > 0 && this.isOver(holder, bytes, slack)) throw EDQUOT;
  }

  isOver(holder: MemoryHolder, bytes: number, slack: boolean): boolean {
    const needed = holder.memory + bytes;
    if (holder.maxMemory > 0 && needed > holder.maxMemory * (slack ? SLACK : 1)) return true;
    if (needed <= this.#limit / Math.max(1, this.#holders.size)) return false;
    let all = this.#shared();
    for (const each of this.#holders) all += each.ownMemory;
    return all + bytes > this.#limit * (slack ? SLACK_OF_ALL : 1);
  }
}
