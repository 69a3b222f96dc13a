import { closeSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { openFifo } from './fifo-pool.ts';

/**
 * A command's standard input. Until the command has it open, the server holds both ends so that the runner's open
 * cannot block; from then on only the writing end, so that the command sees the end of the data, and the server sees
 * (and ignores) a command that does not want it.
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

  /** The command has its end: send everything, then end. Any size; the event loop does the waiting. */
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
      // A name that stays goes with the agent directory.
    }
    this.#both = undefined;
  }
}
