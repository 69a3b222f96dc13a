import { close, ftruncate } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { constants } from 'node:os';
import { promisify } from 'node:util';
import { SerialQueue } from '../../../serial-queue.ts';

/** Disk space that another thread frees: it removes a file, or truncates an open one and closes the descriptor. */
export type BackgroundFree =
  | { kind: 'remove'; path: string }
  | { kind: 'truncate'; id: number; fd: number; size: number };

/**
 * Frees disk space, with one removal and one truncation at a time: each may occupy a thread of the process's pool, which
 * has 4, for seconds.
 */
export class BackgroundFrees {
  readonly #removals = new SerialQueue();
  readonly #truncations = new SerialQueue();
  readonly #truncated: (id: number, errno: number) => void;

  /** `truncated` receives the errno of each truncation, or 0. */
  constructor(truncated: (id: number, errno: number) => void) {
    this.#truncated = truncated;
  }

  start(free: BackgroundFree): void {
    // A file that could not be removed is removed at the next load of its delta.
    if (free.kind === 'remove') void this.#removals.run(() => unlink(free.path)).catch(() => undefined);
    else void this.#truncations.run(() => this.#truncate(free));
  }

  async #truncate({ id, fd, size }: { id: number; fd: number; size: number }): Promise<void> {
    const errno = await promisify(ftruncate)(fd, size).then(() => 0, errnoOf);
    await promisify(close)(fd).catch(() => undefined);
    this.#truncated(id, errno);
  }
}

function errnoOf(error: NodeJS.ErrnoException): number {
  return Math.abs(error.errno ?? constants.errno.EIO);
}
