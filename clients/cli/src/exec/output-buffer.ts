import { closeSync, ftruncateSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CHUNK = 256 * 1024;

/**
 * Bytes that wait for a slow reader, in a file without a name once they are many: the server keeps only the newest output
 * of a process, so it is read at once, however slow the reader of this program is.
 */
export class OutputBuffer {
  readonly #memoryLimit: number;
  readonly #limit: number;
  readonly #pieces: Uint8Array[] = [];
  #inMemory = 0;
  #file: number | undefined;
  /** Part of the file that was not read yet. */
  #from = 0;
  #to = 0;

  constructor({ memory = 8 * 1024 * 1024, limit = 1024 ** 3 } = {}) {
    this.#memoryLimit = memory;
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0 && this.#from === this.#to;
  }

  /** False: there is no room, and the bytes were not taken. */
  add(bytes: Uint8Array): boolean {
    // What is in the file comes before.
    if (this.#from === this.#to && this.#inMemory + bytes.length <= this.#memoryLimit) {
      this.#pieces.push(bytes);
      this.#inMemory += bytes.length;
      return true;
    }
    if (this.#to + bytes.length > this.#limit) return false;
    try {
      this.#file ??= nameless();
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at, bytes.length - at, this.#to + at);
    } catch {
      // The disk is full. The next piece is written over a part of this one.
      return false;
    }
    this.#to += bytes.length;
    return true;
  }

  /** The next bytes, in the order in which they were added. */
  take(): Uint8Array | undefined {
    const piece = this.#pieces.shift();
    if (piece !== undefined) {
      this.#inMemory -= piece.length;
      return piece;
    }
    if (this.#file === undefined || this.#from === this.#to) return undefined;
    const buffer = new Uint8Array(Math.min(CHUNK, this.#to - this.#from));
    const count = readSync(this.#file, buffer, 0, buffer.length, this.#from);
    if (count === 0) throw new Error('the file of the output that waits became shorter');
    this.#from += count;
    if (this.#from === this.#to) {
      ftruncateSync(this.#file);
      this.#from = 0;
      this.#to = 0;
    }
    return buffer.subarray(0, count);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

function nameless(): number {
  const directory = mkdtempSync(join(tmpdir(), 'paddock-'));
  try {
    return openSync(join(directory, 'output'), 'wx+', 0o600);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
