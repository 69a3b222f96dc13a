/** Bytes that are gathered at most while others are written. */
const MOST_BYTES = 1 << 20;

/** Writes what comes in small pieces in few large ones: while one is written by another thread, the next is gathered. */
export class Gathered {
  readonly #write: (bytes: Uint8Array) => Promise<boolean>;
  #held: Uint8Array[] = [];
  #length = 0;
  /** Never rejects. */
  #writing: Promise<void> | undefined;
  #isDone = false;
  #failure: { error: unknown } | undefined;

  /** `write`: one call at a time. Returns whether no more is needed. */
  constructor(write: (bytes: Uint8Array) => Promise<boolean>) {
    this.#write = write;
  }

  /** Returns whether no more is needed. Throws what the last `write` threw. */
  async add(piece: Uint8Array): Promise<boolean> {
    this.#held.push(piece);
    this.#length += piece.length;
    if (this.#length >= MOST_BYTES) await this.#writing;
    this.#next();
    return this.#isDone;
  }

  /** Writes what is left. */
  async end(): Promise<void> {
    await this.#writing;
    this.#next();
    await this.settled();
    this.#next();
  }

  /** When no call of `write` is in progress. Never rejects. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  #next(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#writing !== undefined || this.#length === 0) return;
    // A message has the whole memory that it refers to.
    const bytes = new Uint8Array(this.#length);
    let at = 0;
    for (const piece of this.#held) {
      bytes.set(piece, at);
      at += piece.length;
    }
    this.#held = [];
    this.#length = 0;
    this.#writing = this.#write(bytes)
      .then((isDone) => {
        this.#isDone ||= isDone;
      })
      .catch((error: unknown) => {
        this.#failure = { error };
      })
      .finally(() => {
        this.#writing = undefined;
      });
  }
}
