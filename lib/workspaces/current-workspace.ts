/** The first byte is the length of the id that follows; 0: none. Sandbox ids have about 30 bytes. */
const SIZE = 256;

/**
 * Shared memory in which the request worker records the workspace it is serving. When the worker exits or hangs, the
 * main thread reads from it which workspace that was.
 */
export class CurrentWorkspace {
  readonly buffer: SharedArrayBuffer;
  readonly #bytes: Uint8Array;
  /** Cache of the writer: the next request for the same workspace writes only one byte. */
  #id = '';
  #length = 0;

  /** `buffer`: the memory of the other thread's object. */
  constructor(buffer = new SharedArrayBuffer(SIZE)) {
    this.buffer = buffer;
    this.#bytes = new Uint8Array(buffer);
  }

  /** Records the workspace that is being served. */
  set(id: string): void {
    if (id !== this.#id) {
      this.#id = id;
      this.#length = Buffer.from(this.#bytes.buffer, 1).write(id);
    }
    this.#bytes[0] = this.#length;
  }

  /** Records that no workspace is being served. */
  clear(): void {
    this.#bytes[0] = 0;
  }

  /** Returns the recorded workspace; undefined: none. Reliable only when the writer has stopped. */
  get id(): string | undefined {
    const length = this.#bytes[0] ?? 0;
    return length === 0 ? undefined : Buffer.from(this.#bytes.slice(1, 1 + length)).toString();
  }
}
