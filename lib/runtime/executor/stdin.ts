import { closeSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { ServiceError } from '../../errors.ts';
import type { CommandInput } from '../runtime.ts';
import { openFifo } from './fifo-pool.ts';

/** Characters of one write. */
const PIECE = 65_536;

const CLOSED = 'standard input was closed by an earlier request';
const NOT_READ = 'the command has closed its standard input or has ended';

/**
 * A command's standard input: complete from the start, or open for `write`. Until the command has opened it, the server
 * holds both ends, so that the runner's open cannot block. After that it holds only the write end: the command sees the
 * end of the data, and the server gets EPIPE if the command closes its end. Nothing is buffered here but the piece that
 * the pipe has no room for.
 */
export class Stdin implements CommandInput {
  readonly #path: string;
  #data: string | Uint8Array | undefined;
  #both: number | undefined;
  #socket: Socket | undefined;
  #ended = false;

  /** `data`: the complete input; undefined: it is written by `write`. */
  constructor(path: string, data?: string | Uint8Array) {
    this.#path = path;
    this.#data = data;
    this.#both = openFifo(path, 'both');
  }

  /** Must be called once the command has its end. Complete data, of any size, is then written asynchronously. */
  start(): void {
    if (this.#both === undefined) return;
    const fd = openFifo(this.#path, 'write');
    try {
      this.#socket = new Socket({ fd, readable: false, writable: true });
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    this.#socket.on('error', () => {});
    this.#release();
    if (this.#data !== undefined) void this.#writeAll(this.#data);
    this.#data = undefined;
  }

  /** See `CommandInput`. */
  write(data: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = (reason: string) => reject(new ServiceError('FAILED_PRECONDITION', reason));
      const socket = this.#socket;
      if (this.#ended) refuse(CLOSED);
      else if (!socket?.writable) refuse(NOT_READ);
      // A write that the end of the command interrupts is called back without an error.
      else socket.write(data, (error) => (error || socket.destroyed ? refuse(NOT_READ) : resolve()));
    });
  }

  /** See `CommandInput`. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#socket?.end();
  }

  /** Pending writes are refused. Never throws. */
  close(): void {
    this.#release();
    this.#data = undefined;
    this.#socket?.destroy();
  }

  /** Converts and writes a piece at a time: 60 MB of input in one step would block the main thread for 0.1 s. */
  async #writeAll(data: string | Uint8Array): Promise<void> {
    try {
      for (const piece of typeof data === 'string' ? piecesOf(data) : [data]) await this.write(piece);
      this.end();
    } catch {
      // The command did not read all of it.
    }
  }

  #release(): void {
    if (this.#both === undefined) return;
    try {
      closeSync(this.#both);
      unlinkSync(this.#path);
    } catch {
      // A remaining file is removed with the agent directory.
    }
    this.#both = undefined;
  }
}

/** Pieces of at most PIECE characters; keeps surrogate pairs together. */
function* piecesOf(text: string): Generator<Buffer, void, void> {
  for (let at = 0; at < text.length; ) {
    const last = at + PIECE - 1;
    const isPair = last + 1 < text.length && (text.charCodeAt(last) & 0xfc00) === 0xd800;
    const end = isPair ? last : last + 1;
    yield Buffer.from(text.slice(at, end));
    at = end;
  }
}
