import { close, constants as flags, fstatSync, ftruncate, openSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { constants } from 'node:os';
import { promisify } from 'node:util';
import { closeQuietly } from '../../../linux/close.ts';
import { errnoOf } from '../../../linux/errno.ts';
import { SerialQueue } from '../../../serial-queue.ts';

/**
 * Disk space that another thread frees: it removes a file, or truncates an open one, of device and inode number `file`.
 * The thread that opened the descriptor closes it at the end.
 */
export type BackgroundFree =
  | { kind: 'remove'; path: string }
  | { kind: 'truncate'; id: number; fd: number; file: string; size: number };

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
    else {
      // Now: when the thread that opened the descriptor ends, the number is used for other files.
      const own = openAgain(free.fd, free.file);
      void this.#truncations.run(() => this.#truncate(free.id, own, free.size));
    }
  }

  /** `fd`: an own descriptor, or an errno below 0. */
  async #truncate(id: number, fd: number, size: number): Promise<void> {
    if (fd < 0) return this.#truncated(id, -fd);
    const errno = await promisify(ftruncate)(fd, size).then(() => 0, errnoOf);
    await promisify(close)(fd).catch(() => undefined);
    this.#truncated(id, errno);
  }
}

/** Opens the file of another thread's descriptor. Returns an errno below 0 if that fails or it is another file. */
function openAgain(fd: number, file: string): number {
  try {
    const own = openSync(`/proc/self/fd/${fd}`, flags.O_RDWR);
    if (fileOf(own) === file) return own;
    closeQuietly(own);
    return -constants.errno.EBADF;
  } catch (error) {
    return -errnoOf(error);
  }
}

/** Identifies an open file, by device and inode number. */
export function fileOf(fd: number): string {
  const { dev, ino } = fstatSync(fd);
  return `${dev}:${ino}`;
}
