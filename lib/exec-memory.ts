import { ServiceError } from './errors.ts';
import type { Shares } from './shares.ts';

/** Bytes allocated from the sandbox's share at a time. */
const STEP = 65_536;

/**
 * Memory of the server for one command, allocated from its sandbox's share: its standard input, and output that is not
 * sent yet. The owner must call `release`.
 */
export class ExecMemory {
  readonly #shares: Shares<string> | undefined;
  readonly #sandbox: string;
  #taken = 0;
  #left = 0;
  #released = false;

  constructor(shares: Shares<string> | undefined, sandbox: string) {
    this.#shares = shares;
    this.#sandbox = sandbox;
  }

  /** Allocates memory for input of this length. Throws RESOURCE_EXHAUSTED if the share has no room for it. */
  holdInput(length: number): void {
    if (length === 0 || this.#take(length)) return;
    throw new ServiceError(
      'RESOURCE_EXHAUSTED',
      'stdin: the sandbox’s commands already use its share of the server’s memory for input and output (limits.exec_memory_bytes)',
    );
  }

  /** Allocates up to `bytes` more bytes of output. Returns the number of bytes allocated. */
  grow(bytes: number): number {
    if (bytes > this.#left) {
      const steps = Math.ceil((bytes - this.#left) / STEP) * STEP;
      const wanted = Math.min(steps, this.#shares?.available(this.#sandbox) ?? steps);
      if (this.#take(wanted)) this.#left += wanted;
    }
    const granted = Math.min(bytes, this.#left);
    this.#left -= granted;
    return granted;
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    if (this.#taken > 0) this.#shares?.give(this.#sandbox, this.#taken);
  }

  #take(bytes: number): boolean {
    if (this.#released) return false;
    if (this.#shares === undefined) return true;
    if (!this.#shares.take(this.#sandbox, bytes)) return false;
    this.#taken += bytes;
    return true;
  }
}
