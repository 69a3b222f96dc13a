import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { SerialQueue } from '../serial-queue.ts';
import { removeTree } from './remove-tree.ts';

/** Milliseconds that a caller waits at most for its removal and those before it. */
const WAIT_MS = 2000;

/**
 * Removes trees with files that sandboxes wrote, one file at a time.
 *
 * Threat: the kernel takes seconds to remove a file that was written in thousands of places of the disk. Each removal
 * occupies a thread of the process's pool, which has 4, and uploads, downloads and syncs need one.
 */
export class SlowRemovals {
  readonly #queue = new SerialQueue();
  readonly #remove: (path: string) => Promise<void>;
  readonly #waitMs: number;
  readonly #log: Log;

  constructor(log: Log, remove = (path: string) => removeTree(path, 1), waitMs = WAIT_MS) {
    this.#log = log;
    this.#remove = remove;
    this.#waitMs = waitMs;
  }

  /**
   * Removes a tree that nothing uses any more and whose name is not used again. Resolves when it is removed, or after 2
   * seconds; then the removal goes on, and a failure is logged. Rejects if it failed before. What a crash leaves behind
   * is the caller's to find.
   */
  async remove(path: string): Promise<void> {
    let isLate = false;
    const removed = this.#queue.run(() => this.#remove(path));
    removed.catch((err: unknown) => {
      if (isLate) this.#log.warn('a directory was not removed completely', { path, err });
    });
    const waiting = new AbortController();
    const late = delay(this.#waitMs, undefined, { signal: waiting.signal, ref: false }).then(
      () => (isLate = true),
      () => undefined,
    );
    await Promise.race([removed, late]).finally(() => waiting.abort());
  }
}
