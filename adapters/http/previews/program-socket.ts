import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { ReadPace } from '../../../lib/read-pace.ts';

/** Bytes that are parsed in one step: some milliseconds at most, whatever they are. */
const PIECE = 16_384;
const SLOW_MS = 1;
/** Bytes that an answer holds for a slow client: of one byte each they take a hundred times as much memory. */
const HELD = 4096;

/**
 * A connection to a program in a sandbox, of which HTTP is parsed in small pieces, at the pace that all of them share. The threat:
 * 64 KiB of informational answers, or of chunks of one byte, take 30 ms to parse, and dozens of connections have them at once. The
 * bytes of one that took long, or is new, are the only ones of their turn.
 */
export class ProgramSocket extends Duplex {
  readonly #socket: Socket;
  readonly #pace: ReadPace;
  readonly #turn = { resume: () => this.#give() };
  #isWanted = false;
  #isQueued = false;
  #isSlow = true;
  /** Bytes of the piece that it is the turn of. */
  #size = 0;

  constructor(socket: Socket, pace: ReadPace) {
    super({ allowHalfOpen: socket.allowHalfOpen, readableHighWaterMark: HELD });
    this.#socket = socket;
    this.#pace = pace;
    socket.on('readable', () => this.#look());
    socket.once('end', () => this.push(null));
    socket.on('timeout', () => this.emit('timeout'));
    socket.once('error', (error) => this.destroy(error));
    // After its end the last piece may still be to be read here.
    socket.once('close', () => socket.readableEnded || this.destroy());
  }

  get timeout(): number | undefined {
    return this.#socket.timeout;
  }

  setTimeout(ms: number, ended?: () => void): this {
    if (ended) this.once('timeout', ended);
    this.#socket.setTimeout(ms);
    return this;
  }

  setKeepAlive(enable: boolean, ms?: number): this {
    this.#socket.setKeepAlive(enable, ms);
    return this;
  }

  setNoDelay(enable?: boolean): this {
    this.#socket.setNoDelay(enable);
    return this;
  }

  ref(): this {
    this.#socket.ref();
    return this;
  }

  unref(): this {
    this.#socket.unref();
    return this;
  }

  override _read(): void {
    this.#isWanted = true;
    // Not within the call: what is pushed in it is passed on later, and its time would not be seen.
    queueMicrotask(() => this.#look());
  }

  #look(): void {
    if (!this.#isWanted || this.#isQueued || this.destroyed) return;
    this.#size = Math.min(PIECE, this.#socket.readableLength);
    if (this.#size === 0) {
      // For its end, or for `readable` when there is more.
      this.#socket.read(0);
      return;
    }
    this.#isQueued = !this.#pace.took(this.#turn, this.#size, this.#isSlow);
    if (!this.#isQueued) this.#give();
  }

  #give(): void {
    this.#isQueued = false;
    if (this.destroyed) return;
    const piece = this.#socket.read(this.#size) as Buffer | null;
    if (piece === null) return;
    this.#isWanted = false;
    const began = performance.now();
    this.push(piece);
    this.#isSlow = performance.now() - began > SLOW_MS;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#pace.leave(this.#turn);
    this.#socket.destroy();
    done(error);
  }
}
