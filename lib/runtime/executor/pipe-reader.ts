import { readSync } from 'node:fs';
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import type { ReadPace } from './read-pace.ts';

/** A pipe's usual capacity: what one read can give at most. */
const READ_BYTES = 65_536;
/**
 * The most that a pipe can hold, however its user sets it up, by default (proc(5), /proc/sys/fs/pipe-max-size), and the
 * most pieces that it can be in: a read takes one of them at least.
 */
const PIPE_BYTES = 1_048_576;
const PIPE_PIECES = PIPE_BYTES / 4096;

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
  /** undefined: what comes is so little that it is read as it comes. */
  #pace: ReadPace | undefined;

  /** `scratch`: shared by all readers; it holds data only within one callback. */
  constructor(fd: number, scratch: Buffer, pace?: ReadPace) {
    this.#fd = fd;
    this.#scratch = scratch;
    this.#pace = pace;
    // `onread` works for any handle; the types know it for connections only.
    const options: SocketConstructorOpts & { onread: OnReadOpts } = {
      fd,
      readable: true,
      writable: false,
      onread: { buffer: scratch, callback: (size, buffer) => this.#take(buffer.subarray(0, size)) },
    };
    this.#socket = new Socket(options);
    this.#socket.on('error', () => this.close());
    this.#socket.on('end', () => this.close());
    this.ended = new Promise((resolve) => {
      this.#socket.on('close', () => {
        this.#open = false;
        this.#pace?.leave(this);
        resolve();
      });
    });
  }

  /** What waited for its turn in the last one reads on. */
  set pace(pace: ReadPace) {
    if (this.#pace === pace) return;
    if (this.#pace?.leave(this)) this.resume();
    this.#pace = pace;
  }

  resume(): void {
    if (this.#open) this.#socket.resume();
  }

  /**
   * Gives the sink all that is in the pipe now, whatever it answers. Bounded by what a pipe can hold: whoever goes on
   * writing meanwhile is not read for ever. False when it was not found empty at the end. Throws when it cannot be read.
   */
  drain(): boolean {
    // An exception with a stack trace is most of the cost of finding a pipe empty.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    try {
      for (let bytes = 0, reads = 0; bytes < PIPE_BYTES && reads < PIPE_PIECES; reads++) {
        if (!this.#open || this.#socket.destroyed) return true;
        const size = readSync(this.#fd, this.#scratch, 0, READ_BYTES, null);
        if (size === 0) return true;
        bytes += size;
        this.sink(this.#scratch.subarray(0, size));
      }
      return false;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      return true;
    } finally {
      Error.stackTraceLimit = limit;
    }
  }

  close(): void {
    this.#open = false;
    this.#socket.destroy();
  }

  /** The sink's own "no" comes first: who is full is resumed when it no longer is. */
  #take(data: Uint8Array): boolean {
    return this.sink(data) && (this.#pace?.took(this, data.length) ?? true);
  }
}

export const newScratch = (): Buffer => Buffer.allocUnsafeSlow(READ_BYTES);
