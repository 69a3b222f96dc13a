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
/** What `drain` may take in one turn of the event loop. */
const DRAIN_MS = 2;
/** A full read that long after the last one was the first for a while, or had to wait for those who write. */
const SLOW_MS = 1;

/** What may still be read out of one pipe by `drain`. */
export interface DrainQuota {
  bytes: number;
  reads: number;
  /** It was found empty. */
  emptied: boolean;
}

export const newQuota = (): DrainQuota => ({ bytes: PIPE_BYTES, reads: PIPE_PIECES, emptied: false });

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
  /** When the last full read was done with. */
  #took = 0;
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
   * Gives the sink all that is in the pipe when it is first called with this quota, whatever the sink answers. Whoever
   * goes on writing is not read for ever: the quota is what a pipe can hold. False: another call is needed, in a later
   * turn of the event loop, since a pipe that hundreds write to makes a read wait for them. Throws when it cannot be read.
   */
  drain(quota: DrainQuota): boolean {
    // An exception with a stack trace is most of the cost of finding a pipe empty.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    const began = performance.now();
    try {
      while (!quota.emptied && quota.bytes > 0 && quota.reads > 0) {
        if (quota.reads < PIPE_PIECES && performance.now() - began > DRAIN_MS) return false;
        quota.emptied = !this.#open || this.#socket.destroyed || !this.#drainOnce(quota);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      quota.emptied = true;
    } finally {
      Error.stackTraceLimit = limit;
    }
    return true;
  }

  /** False at the end of the pipe. */
  #drainOnce(quota: DrainQuota): boolean {
    const size = readSync(this.#fd, this.#scratch, 0, READ_BYTES, null);
    quota.reads--;
    quota.bytes -= size;
    if (size > 0) this.sink(this.#scratch.subarray(0, size));
    return size > 0;
  }

  close(): void {
    this.#open = false;
    this.#socket.destroy();
  }

  /** The sink's own "no" comes first: who is full is resumed when it no longer is. */
  #take(data: Uint8Array): boolean {
    const slow = data.length === READ_BYTES && performance.now() - this.#took > SLOW_MS;
    const more = this.sink(data) && (this.#pace?.took(this, data.length, slow) ?? true);
    if (data.length === READ_BYTES) this.#took = performance.now();
    return more;
  }
}

export const newScratch = (): Buffer => Buffer.allocUnsafeSlow(READ_BYTES);
