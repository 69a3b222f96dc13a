import { rmSync, writeSync } from 'node:fs';
import { invalidArgument, ServiceError } from '../../../errors.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { errorCode } from '../../../linux/errno.ts';
import type { Shares } from '../../../shares.ts';
import type { TerminalSize } from '../../runtime.ts';
import { openFifo } from '../fifo-pool.ts';

/** Maximum rows and columns; a program may allocate a cell for each character. */
const MAX_SIDE = 1000;

/** Throws INVALID_ARGUMENT for a size that no terminal gets. */
export function checkSize({ columns, rows }: TerminalSize): void {
  for (const [field, value] of Object.entries({ columns, rows })) {
    if (!Number.isInteger(value) || value < 1 || value > MAX_SIDE) {
      throw invalidArgument(field, `must be a whole number from 1 to ${MAX_SIDE}`);
    }
  }
}

/**
 * The server's end of the FIFO on which a terminal gets its new sizes. Both ends stay open, so that neither the opening
 * inside blocks nor a write fails when the program inside has ended. The owner must call `close`.
 */
export class TerminalSizes {
  readonly #path: string;
  readonly #release: () => void;
  #fd: number | undefined;

  /** Takes one descriptor of the owner's share until `close`; RESOURCE_EXHAUSTED if none is left. */
  constructor(path: string, descriptors: Shares<object>, owner: object) {
    this.#path = path;
    this.#release = () => descriptors.give(owner, 1);
    if (!descriptors.take(owner, 1)) {
      throw new ServiceError(
        'RESOURCE_EXHAUSTED',
        'the sandbox’s commands have all file descriptors of its share in use',
      );
    }
    try {
      this.#fd = openFifo(path, 'both');
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  /** The FIFO was opened inside: its name is no longer needed. Never throws. */
  opened(): void {
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // It is removed with the agent directory.
    }
  }

  /** Never blocks. Nothing after `close`. UNAVAILABLE if thousands of sizes were not taken: the program inside is stopped. */
  set(size: TerminalSize): void {
    checkSize(size);
    if (this.#fd === undefined) return;
    try {
      writeSync(this.#fd, `${size.rows} ${size.columns}\n`);
    } catch (cause) {
      if (errorCode(cause) !== 'EAGAIN') throw cause;
      throw new ServiceError('UNAVAILABLE', 'the terminal does not take its new size: its processes are stopped', [], {
        cause,
      });
    }
  }

  /** Idempotent, never throws. */
  close(): void {
    if (this.#fd === undefined) return;
    this.opened();
    closeQuietly(this.#fd);
    this.#fd = undefined;
    this.#release();
  }
}
