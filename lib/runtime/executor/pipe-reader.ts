import { readSync } from 'node:fs';
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';

/** A pipe's usual capacity: what one read can give at most. */
const READ_BYTES = 65_536;

/** Given the bytes, valid only during the call; false: stop reading until `resume`. */
export type Sink = (data: Uint8Array) => boolean;

/**
 * The server's end of a pipe out of a sandbox. Reads through the event loop, and on demand whatever is in the pipe
 * right now. Owns the descriptor; `close` gives it back.
 */
export class PipeReader {
  readonly #fd: number;
  readonly #socket: Socket;
  readonly #scratch: Buffer;
  /** Settles when every writer has closed its end, or after `close`. */
  readonly ended: Promise<void>;
  #open = true;
  sink: Sink = () => true;

  /** `scratch`: shared by all readers; it holds data only within one callback. */
  constructor(fd: number, scratch: Buffer) {
    this.#fd = fd;
    this.#scratch = scratch;
    // `onread` works for any handle; the types know it for connections only.
    const options: SocketConstructorOpts & { onread: OnReadOpts } = {
      fd,
      readable: true,
      writable: false,
      onread: { buffer: scratch, callback: (size, buffer) => this.sink(buffer.subarray(0, size)) },
    };
    this.#socket = new Socket(options);
    this.#socket.on('error', () => this.close());
    this.#socket.on('end', () => this.close());
    this.ended = new Promise((resolve) => {
      this.#socket.on('close', () => {
        this.#open = false;
        resolve();
      });
    });
  }

  resume(): void {
    if (this.#open) this.#socket.resume();
  }

  /** Gives the sink all that is in the pipe now, whatever it answers. */
  drain(): void {
    // An exception with a stack trace is most of the cost of finding a pipe empty.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    try {
      while (this.#open && !this.#socket.destroyed) {
        const size = readSync(this.#fd, this.#scratch, 0, READ_BYTES, null);
        if (size === 0) return;
        this.sink(this.#scratch.subarray(0, size));
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    } finally {
      Error.stackTraceLimit = limit;
    }
  }

  close(): void {
    this.#open = false;
    this.#socket.destroy();
  }
}

export const newScratch = (): Buffer => Buffer.allocUnsafeSlow(READ_BYTES);
