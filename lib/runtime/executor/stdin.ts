import { closeSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { openFifo } from './fifo-pool.ts';

/** Characters of one write. */
const PIECE = 65_536;

/**
 * A command's standard input. Until the command has opened it, the server holds both ends, so that the runner's open
 * cannot block. After that it holds only the write end: the command sees the end of the data, and the server gets EPIPE
 * (and ignores it) if the command closes its end.
 */
export class Stdin {
  readonly #path: string;
  #data: string;
  #both: number | undefined;
  #socket: Socket | undefined;

  constructor(path: string, data: string) {
    this.#path = path;
    this.#data = data;
    this.#both = openFifo(path, 'both');
  }

  /** Starts writing once the command has its end: all data, of any size, asynchronously, then closes. */
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
    this.#write();
  }

  /** Converts and writes a piece at a time: 60 MB of input in one step would block the main thread for 0.1 s. */
  #write(): void {
    const socket = this.#socket!;
    for (let more = true; more && this.#data.length > 0; ) {
      const piece = firstOf(this.#data);
      this.#data = this.#data.slice(piece.length);
      more = socket.write(piece, 'utf8');
    }
    if (this.#data.length > 0) socket.once('drain', () => this.#write());
    else socket.end();
  }

  /** Never throws. */
  close(): void {
    this.#release();
    this.#socket?.destroy();
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

/** At most PIECE characters; keeps surrogate pairs together. */
function firstOf(text: string): string {
  const isPair = text.length > PIECE && (text.charCodeAt(PIECE - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isPair ? PIECE - 1 : PIECE);
}
