import type { Disk } from '../disk/disk.ts';

/** Descriptors of files for reading, the most recently used ones, shared by all stores of a thread. */
export class OpenFiles {
  readonly #disk: Disk;
  readonly #limit: number;
  /** By path; the least recently used one comes first. */
  readonly #open = new Map<string, number>();

  constructor(disk: Disk, limit = 64) {
    this.#disk = disk;
    this.#limit = limit;
  }

  /** Valid until the next call. */
  fd(path: string): number {
    let fd = this.#open.get(path);
    if (fd === undefined) {
      if (this.#open.size >= this.#limit) this.forget(this.#open.keys().next().value!);
      fd = this.#disk.open(path, 'read');
    } else {
      this.#open.delete(path);
    }
    this.#open.set(path, fd);
    return fd;
  }

  /** Of a file that gets another name or none. */
  forget(path: string): void {
    const fd = this.#open.get(path);
    if (fd === undefined) return;
    this.#open.delete(path);
    this.#disk.close(fd);
  }
}
