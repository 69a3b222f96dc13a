/** Reads requested amounts of bytes from a stream. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns up to `max` bytes, as they arrive; undefined at the end. */
  async next(max: number): Promise<Uint8Array | undefined> {
    while (this.#held.length === 0) {
      const { value, done } = await this.#source.next();
      if (done) return undefined;
      this.#held = value;
    }
    const taken = this.#held.subarray(0, max);
    this.#held = this.#held.subarray(taken.length);
    return taken;
  }

  /** Returns exactly `size` bytes; undefined if there are fewer. */
  async take(size: number): Promise<Buffer | undefined> {
    const whole = Buffer.allocUnsafe(size);
    for (let done = 0; done < size; ) {
      const part = await this.next(size - done);
      if (part === undefined) return undefined;
      whole.set(part, done);
      done += part.length;
    }
    return whole;
  }

  /** Skips `size` bytes, or all that remain. */
  async skip(size: number): Promise<void> {
    for (let left = size; left > 0; ) {
      const part = await this.next(left);
      if (part === undefined) return;
      left -= part.length;
    }
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }
}
