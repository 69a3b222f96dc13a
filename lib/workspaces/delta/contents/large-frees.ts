import { constants, fstatSync, lstatSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { Postponed } from '../../../fuse/filesystem.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { Errno } from '../../../linux/errno.ts';
import { type BackgroundFree, fileOf } from './background-free.ts';

/** The disk space of more bytes than this is freed while other requests are served. */
const LARGE = 1 << 20;
/** Lower causes are those of holds and copies. */
const FIRST_CAUSE = 2 ** 41;
const REMOVED_NAME = /^removed-\d+$/;

interface Truncation {
  file: string;
  /** Closed at the end of the truncation. */
  fd: number;
  /** undefined: in progress. 0: complete. */
  errno: number | undefined;
}

/**
 * Frees the disk space of host files in another thread if it is large.
 *
 * Threat: a file written in thousands of places of the disk takes the kernel seconds to remove or to truncate, during
 * which the thread that serves all sandboxes would wait.
 */
export class LargeFrees {
  readonly #start: ((free: BackgroundFree) => void) | undefined;
  readonly #truncations = new Map<number, Truncation>();
  #lastId = FIRST_CAUSE;

  /** `start` starts it in another thread, which calls `done` after a truncation; absent: everything is done at once. */
  constructor(start?: (free: BackgroundFree) => void) {
    this.#start = start;
  }

  /** Whether a file name is that of a file which is still to be removed. */
  static isRemoved(name: string): boolean {
    return REMOVED_NAME.test(name);
  }

  /**
   * Removes a file; its path can be used again at once. Until its space is free, a large one is in `directory`, on the
   * same file system. Throws host errors.
   */
  remove(path: string, directory: string): void {
    if (this.#start === undefined || lstatSync(path).blocks * 512 <= LARGE) {
      unlinkSync(path);
      return;
    }
    const removed = `${directory}/removed-${++this.#lastId}`;
    renameSync(path, removed);
    this.#start({ kind: 'remove', path: removed });
  }

  /**
   * Called before an open file is truncated to `size` bytes. If that may free much space, the request is Postponed until
   * the file is truncated. Throws the errno of a failed truncation, and host errors.
   */
  truncating(fd: number, size: number): void {
    if (this.#start === undefined) return;
    const { blocks, size: before } = fstatSync(fd);
    const file = fileOf(fd);
    for (const [id, known] of this.#truncations) {
      if (known.file !== file) continue;
      if (known.errno === undefined) throw new Postponed(id);
      this.#truncations.delete(id);
      if (known.errno > 0) throw new Errno(known.errno);
    }
    // How much becomes free is not known: a file may have holes.
    if (size < before && blocks * 512 > LARGE) throw new Postponed(this.#truncate(fd, file, size));
  }

  /** Called when the other thread has completed a truncation (errno 0) or failed. */
  done(id: number, errno: number): void {
    const truncation = this.#truncations.get(id);
    if (truncation === undefined) return;
    truncation.errno = errno;
    closeQuietly(truncation.fd);
  }

  /** Forgets truncations whose requests did not run again. Called after all postponed requests ran again. */
  forgetUnused(): void {
    for (const [id, { errno }] of this.#truncations) if (errno !== undefined) this.#truncations.delete(id);
  }

  #truncate(fd: number, file: string, size: number): number {
    const id = ++this.#lastId;
    const own = openSync(`/proc/self/fd/${fd}`, constants.O_RDWR);
    try {
      this.#start!({ kind: 'truncate', id, fd: own, file, size });
    } catch (error) {
      closeQuietly(own);
      throw error;
    }
    this.#truncations.set(id, { file, fd: own, errno: undefined });
    return id;
  }
}
