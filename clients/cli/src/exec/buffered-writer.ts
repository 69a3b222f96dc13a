import { OutputBuffer } from './output-buffer.ts';

interface Writer {
  write(data: Uint8Array, done: (error?: Error | null) => void): unknown;
}

/** Writes bytes to a stream at the pace at which it is read, without a wait for the caller while there is room. */
export class BufferedWriter {
  readonly #stream: Writer;
  readonly #buffer: OutputBuffer;
  #writing: Promise<void> | undefined;
  #wake: () => void = () => undefined;
  /** The reader has left: everything is dropped. */
  #broken = false;

  constructor(stream: Writer, buffer = new OutputBuffer()) {
    this.#stream = stream;
    this.#buffer = buffer;
  }

  /** Whether something was not written. */
  get isBroken(): boolean {
    return this.#broken;
  }

  async write(bytes: Uint8Array): Promise<void> {
    while (!this.#broken && !this.#buffer.add(bytes)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Resolves when everything is written. */
  async end(): Promise<void> {
    await this.#writing;
    this.#buffer.close();
  }

  async #drain(): Promise<void> {
    for (let piece = this.#buffer.take(); piece !== undefined; piece = this.#buffer.take()) {
      const bytes = piece;
      // The error is also an event of the stream, whose listener decides.
      if (!this.#broken)
        await new Promise<void>((resolve) => {
          this.#stream.write(bytes, (error) => {
            if (error) this.#broken = true;
            resolve();
          });
        });
      this.#wake();
    }
  }
}
