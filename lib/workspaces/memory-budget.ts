import { EDQUOT } from '../linux/errno.ts';

/** Memory of a node in bytes, as measured (`memory.test.ts`). */
export const NODE_BYTES = 560;
/** Memory of a name in a listing, in bytes. */
export const LISTED_BYTES = 150;
/**
 * Factors on the limits for operations that may exceed them a little: removals need some memory before they free some,
 * and the kernel sends FORGET late.
 */
const SLACK = 2;
const SLACK_OF_ALL = 1.25;

/** A workspace as a user of the thread's memory. */
export interface MemoryHolder {
  /** Bytes in use; memory shared with other holders counts for each of them. */
  readonly memory: number;
  /** Bytes in use by this holder alone. */
  readonly ownMemory: number;
  /** Limit in bytes; 0: none. */
  readonly maxMemory: number;
}

/**
 * The memory limit of the thread that serves all workspaces. Each workspace has a limit of its own. When all together
 * reach the limit of the thread, those that use more than an equal share get no more.
 */
export class MemoryBudget {
  readonly #holders = new Set<MemoryHolder>();
  readonly #limit: number;
  readonly #shared: () => number;

  /** `limit`: bytes for all holders. `shared`: returns the bytes that no single holder owns. */
  constructor(limit: number, shared: () => number) {
    this.#limit = limit;
    this.#shared = shared;
  }

  /** Registers a holder until `delete`. */
  add(holder: MemoryHolder): void {
    this.#holders.add(holder);
  }

  /** Removes a holder. */
  delete(holder: MemoryHolder): void {
    this.#holders.delete(holder);
  }

  /**
   * Throws EDQUOT if the holder may not use `bytes` more. `slack`: the operation frees memory later or cannot avoid
   * using it, so the limits are exceeded a little.
   */
  claim(holder: MemoryHolder, bytes: number, slack: boolean): void {
    if (bytes > 0 && this.isOver(holder, bytes, slack)) throw EDQUOT;
  }

  /** Whether `claim` would throw. */
  isOver(holder: MemoryHolder, bytes: number, slack: boolean): boolean {
    const needed = holder.memory + bytes;
    if (holder.maxMemory > 0 && needed > holder.maxMemory * (slack ? SLACK : 1)) return true;
    if (needed <= this.#limit / Math.max(1, this.#holders.size)) return false;
    let all = this.#shared();
    for (const each of this.#holders) all += each.ownMemory;
    return all + bytes > this.#limit * (slack ? SLACK_OF_ALL : 1);
  }
}
