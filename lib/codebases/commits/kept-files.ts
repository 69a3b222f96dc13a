import { spawnSync } from 'node:child_process';
import { maxHeldDescriptors } from '../../descriptors.ts';
import { closeQuietly } from '../../linux/close.ts';

/** Files that are closed sooner than a process starts. */
const FEW = 16;
/** The process ends at once; another one, which it leaves behind, has the files for a second more. */
const HOLD = 'sleep 1 &';

/**
 * Keeps replaced files open, so that their space is freed later: on some disks that takes a millisecond each, many times as
 * long as all else. They are closed by processes that do nothing else, which nobody waits for. So commits also hold no more
 * of the server's descriptors than `most`.
 */
export class KeptFiles {
  readonly #most: number;
  readonly #shell: string;
  readonly #own: number[] = [];
  #canHandOver = true;

  constructor(most = maxHeldDescriptors(), shell = 'sh') {
    this.#most = most;
    this.#shell = shell;
  }

  /** `open`: throws if there is no file. Does nothing if no more files can be kept. */
  keep(open: () => number): void {
    if (this.#own.length >= this.#most && !this.#handOver()) return;
    try {
      this.#own.push(open());
    } catch {
      // There is nothing, or the server has no descriptors left.
    }
  }

  /** Does not wait until the space is free, unless no process can be started. */
  close(): void {
    if (this.#own.length > FEW) this.#handOver();
    for (const fd of this.#own.splice(0)) closeQuietly(fd);
  }

  /** Returns false if that is impossible. */
  #handOver(): boolean {
    if (!this.#canHandOver) return false;
    const options = { env: {}, stdio: ['ignore' as const, 'ignore' as const, 'ignore' as const, ...this.#own] };
    this.#canHandOver = spawnSync(this.#shell, ['-c', HOLD], options).status === 0;
    if (this.#canHandOver) for (const fd of this.#own.splice(0)) closeQuietly(fd);
    return this.#canHandOver;
  }
}
