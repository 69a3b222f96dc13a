import { closeSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { openFifo } from './fifo-pool.ts';

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
    this.#socket.end(this.#data, 'utf8');
    this.#data = '';
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
