import { closeQuietly } from '../../../linux/close.ts';

/** Open host files with contents, the most recently used ones, of all trees of a thread. */
export class Descriptors {
  readonly #limit: number;
  /** The least recently used one comes first. */
  readonly #open = new Map<string, number>();
  #last: { readonly name: string; readonly fd: number } | undefined;

  constructor(limit = 64) {
    this.#limit = limit;
  }

  /** Valid until the next call; `open` opens it if necessary. */
  of(name: string, open: () => number): number {
    if (this.#last?.name === name) return this.#last.fd;
    let fd = this.#open.get(name);
    if (fd === undefined) {
      fd = open();
      for (const [oldest] of this.#open) {
        if (this.#open.size < this.#limit) break;
        this.close(oldest);
      }
    } else this.#open.delete(name);
    this.#open.set(name, fd);
    this.#last = { name, fd };
    return fd;
  }

  close(name: string): void {
    const fd = this.#open.get(name);
    if (fd === undefined) return;
    this.#open.delete(name);
    if (this.#last?.name === name) this.#last = undefined;
    closeQuietly(fd);
  }

  /** Those whose names begin so. */
  closeAll(prefix: string): void {
    for (const name of [...this.#open.keys()]) if (name.startsWith(prefix)) this.close(name);
  }
}
