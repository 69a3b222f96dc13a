import { readSync } from 'node:fs';
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { closeQuietly } from '../../linux/close.ts';
import { errorCode } from '../../linux/errno.ts';
import type { ReadPace } from '../../read-pace.ts';
import { giveBack, largeBuffer } from '../../recycled-buffers.ts';
import { type Grow, openFifo } from './fifo-pool.ts';

/** Usual capacity of a pipe: what a full one gives. */
const FULL_BYTES = 65_536;
/** The maximum of one read, and the capacity of a pipe that was made larger. */
export const READ_BYTES = 262_144;
/** Bytes in full reads, after which a larger pipe saves a wake-up of the program and one of the server for each of them. */
const BUSY_BYTES = 1_048_576;
/**
 * Maximum capacity of a pipe by default (proc(5), /proc/sys/fs/pipe-max-size), and its maximum number of buffers: a
 * read takes at least one of them.
 */
const PIPE_BYTES = 1_048_576;
const PIPE_PIECES = PIPE_BYTES / 4096;
/** Milliseconds that `drain` may use in one turn of the event loop. */
const DRAIN_MS = 2;
/** A full read that took this many milliseconds was the first for a while, or had to wait for writers. */
const SLOW_MS = 1;

/** The amount that `drain` may still read from one pipe. */
export interface DrainQuota {
  bytes: number;
  reads: number;
  /** Whether the pipe was found empty. */
  emptied: boolean;
}

export const newQuota = (): DrainQuota => ({ bytes: PIPE_BYTES, reads: PIPE_PIECES, emptied: false });

/**
 * Receives the bytes, valid only during the call. Returns false to stop reading until `resume`. `piece`: the buffer whose first
 * bytes they are, of which the receiver may have a shared view for as long as it wants.
 */
export type Sink = (data: Uint8Array, piece?: Buffer) => boolean;

/**
 * The server's end of a pipe from a sandbox. Reads through the event loop, and on demand everything that is in the
 * pipe. Owns the descriptor; `close` closes it.
 */
export class PipeReader {
  readonly #fd: number;
  readonly #socket: Socket;
  readonly #scratch: Buffer;
  /** Settles when every writer has closed its end, or after `close`. */
  readonly ended: Promise<void>;
  #open = true;
  /** Time at which the last full read was processed. */
  #took = 0;
  sink: Sink = () => true;
  /** undefined: the amounts are so small that they are read immediately. */
  #pace: ReadPace | undefined;
  /** Absent: the pipe stays as it is, or has been made larger. */
  #grow: Grow | undefined;
  #shrunk: (() => void) | undefined;
  /** Bytes that were read in full reads. */
  #busy = 0;
  /** The next read goes into it, not into `scratch`: after a large read from a pipe that was made larger. */
  #piece: Buffer | undefined;

  /** `scratch`: a buffer shared by all readers; it holds data only during a callback. */
  constructor(fd: number, scratch: Buffer, pace?: ReadPace, grow?: Grow) {
    this.#fd = fd;
    this.#scratch = scratch;
    this.#pace = pace;
    this.#grow = grow;
    // `onread` works for any handle; the types declare it for connections only.
    const options: SocketConstructorOpts & { onread: OnReadOpts } = {
      fd,
      readable: true,
      writable: false,
      onread: { buffer: () => this.#piece ?? scratch, callback: (size) => this.#read(size) },
    };
    this.#socket = new Socket(options);
    this.#socket.on('error', () => this.close());
    this.#socket.on('end', () => this.close());
    this.ended = new Promise((resolve) => {
      this.#socket.on('close', () => {
        this.#open = false;
        this.#pace?.leave(this);
        this.#shrunk?.();
        if (this.#piece !== undefined) giveBack(this.#piece);
        this.#piece = undefined;
        resolve();
      });
    });
  }

  /** Reading that waited under the previous pace continues. */
  set pace(pace: ReadPace) {
    if (this.#pace === pace) return;
    if (this.#pace?.leave(this)) this.resume();
    this.#pace = pace;
  }

  /** Continues reading after the sink returned false. */
  resume(): void {
    if (this.#open) this.#socket.resume();
  }

  /**
   * Passes everything to the sink that is in the pipe at the first call with this quota, whatever the sink returns. The
   * quota is the capacity of a pipe, so that a process that keeps writing cannot extend it. Returns false if another
   * call is needed in a later turn of the event loop: a pipe with hundreds of writers makes a read wait for them.
   * Throws if the pipe cannot be read.
   */
  drain(quota: DrainQuota): boolean {
    // Creating a stack trace is most of the cost of finding a pipe empty.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    const began = performance.now();
    try {
      while (!quota.emptied && quota.bytes > 0 && quota.reads > 0) {
        if (quota.reads < PIPE_PIECES && performance.now() - began > DRAIN_MS) return false;
        quota.emptied = !this.#open || this.#socket.destroyed || !this.#drainOnce(quota);
      }
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') throw error;
      quota.emptied = true;
    } finally {
      Error.stackTraceLimit = limit;
    }
    return true;
  }

  /** Returns false at the end of the pipe. */
  #drainOnce(quota: DrainQuota): boolean {
    const size = readSync(this.#fd, this.#scratch, 0, Math.min(READ_BYTES, quota.bytes), null);
    quota.reads--;
    quota.bytes -= size;
    if (size > 0) this.sink(this.#scratch.subarray(0, size));
    return size > 0;
  }

  /** Stops reading and closes the descriptor. Idempotent. */
  close(): void {
    this.#open = false;
    this.#socket.destroy();
  }

  /** A piece is kept for a large read only: its receiver counts the bytes of data, of which it must not have few. */
  #read(size: number): boolean {
    const piece = this.#piece;
    const large = size > READ_BYTES / 2;
    const more = this.#take((piece ?? this.#scratch).subarray(0, size), large ? piece : undefined);
    if (piece !== undefined) giveBack(piece);
    this.#piece = large && this.#open && this.#shrunk !== undefined ? largeBuffer(READ_BYTES) : undefined;
    return more;
  }

  /** The sink's refusal takes precedence: a full consumer is resumed when it has room. */
  #take(data: Uint8Array, piece: Buffer | undefined): boolean {
    const full = data.length >= FULL_BYTES;
    const slow = full && performance.now() - this.#took > SLOW_MS;
    const more = this.sink(data, piece) && (this.#pace?.took(this, data.length, slow) ?? true);
    if (full) {
      this.#took = performance.now();
      this.#growOnce(data.length);
    }
    return more;
  }

  #growOnce(size: number): void {
    this.#busy += size;
    if (this.#grow === undefined || this.#busy < BUSY_BYTES || !this.#open) return;
    this.#shrunk = this.#grow(this.#fd);
    this.#grow = undefined;
  }
}

export const newScratch = (): Buffer => Buffer.allocUnsafeSlow(READ_BYTES);

/** A reader of a FIFO. Leaves no descriptor open if it throws. */
export function openPipeReader(
  path: string,
  access: 'read' | 'both',
  scratch: Buffer,
  pace?: ReadPace,
  grow?: Grow,
): PipeReader {
  const fd = openFifo(path, access);
  try {
    return new PipeReader(fd, scratch, pace, grow);
  } catch (error) {
    closeQuietly(fd);
    throw error;
  }
}
