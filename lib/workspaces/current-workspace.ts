/** The first byte is the length of the id that follows; 0: none. Ids of sandboxes have some 30 bytes. */
const SIZE = 256;

/**
 * Shared memory in which the request worker names the workspace that it is serving. When the worker has ended or hangs,
 * the main thread reads in it for whom it was working then.
 */
export class CurrentWorkspace {
  readonly buffer: SharedArrayBuffer;
  readonly #bytes: Uint8Array;
  /** The writer's: what the memory holds, so that the next request for the same workspace writes one byte. */
  #id = '';
  #length = 0;

  constructor(buffer = new SharedArrayBuffer(SIZE)) {
    this.buffer = buffer;
    this.#bytes = new Uint8Array(buffer);
  }

  set(id: string): void {
    if (id !== this.#id) {
      this.#id = id;
      this.#length = Buffer.from(this.#bytes.buffer, 1).write(id);
    }
    this.#bytes[0] = this.#length;
  }

  clear(): void {
    this.#bytes[0] = 0;
  }

  /** undefined: it serves none. To be relied on only when the writer has stopped. */
  get id(): string | undefined {
    const length = this.#bytes[0] ?? 0;
    return length === 0 ? undefined : Buffer.from(this.#bytes.slice(1, 1 + length)).toString();
  }
}
