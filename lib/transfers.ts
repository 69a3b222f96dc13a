import { ServiceError } from './errors.ts';
import { Shares } from './shares.ts';

/** Maximum wait in milliseconds: long enough for a burst of small files on a slow disk. */
const MAX_WAIT_MS = 30_000;

interface Waiting {
  descriptors: number;
  admit: () => void;
}

/**
 * Admission of file transfers to the descriptor budget. A transfer that exceeds the share of its codebase or sandbox
 * waits for earlier ones, in order of arrival among those of the same holder.
 */
export class Transfers {
  readonly #shares: Shares<string>;
  readonly #maxWaitMs: number;
  readonly #waiting = new Map<string, Waiting[]>();

  /** `descriptors`: the total of all holders. */
  constructor(descriptors: number, maxWaitMs = MAX_WAIT_MS) {
    this.#shares = new Shares(descriptors);
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Waits until `descriptors` are within the holder's share, and allocates them. The caller must call the returned
   * function when the transfer has ended; further calls of it do nothing. Throws RESOURCE_EXHAUSTED after the maximum
   * wait. `holder`: id of the codebase or sandbox.
   */
  async begin(holder: string, descriptors: number): Promise<() => void> {
    // At least one transfer at a time, however low the limit is.
    const amount = Math.max(1, Math.min(descriptors, Math.floor(this.#shares.total / 2)));
    if (this.#waiting.has(holder) || !this.#shares.take(holder, amount)) await this.#wait(holder, amount);
    return this.#ending(holder, amount);
  }

  /** As `begin`, for a transfer that can do without: returns undefined instead of waiting. */
  tryBegin(holder: string, descriptors: number): (() => void) | undefined {
    if (this.#waiting.has(holder) || !this.#shares.take(holder, descriptors)) return undefined;
    return this.#ending(holder, descriptors);
  }

  #ending(holder: string, amount: number): () => void {
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#shares.give(holder, amount);
      this.#admitWaiting();
    };
  }

  #wait(holder: string, descriptors: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = this.#waiting.get(holder) ?? [];
      this.#waiting.set(holder, queue);
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiting), 1);
        if (queue.length === 0) this.#waiting.delete(holder);
        reject(tooMany());
        // A smaller transfer behind this one may fit.
        this.#admitWaiting();
      }, this.#maxWaitMs);
      const waiting = {
        descriptors,
        admit: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      queue.push(waiting);
    });
  }

  #admitWaiting(): void {
    for (const [holder, queue] of this.#waiting) {
      for (let next = queue[0]; next !== undefined; next = queue[0]) {
        if (!this.#shares.take(holder, next.descriptors)) break;
        queue.shift();
        next.admit();
      }
      if (queue.length === 0) this.#waiting.delete(holder);
    }
  }
}

function tooMany(): ServiceError {
  return new ServiceError(
    'RESOURCE_EXHAUSTED',
    'too many file transfers are in progress for the server’s limit of open files, try again',
  );
}
