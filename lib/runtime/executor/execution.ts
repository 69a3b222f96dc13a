import type { OutputStream } from '../../messages.ts';
import type { CommandEvent, Execution } from '../runtime.ts';

/** Output held for a consumer that does not read; above it the pipes are left alone and the program waits. */
const HIGH_WATER = 1_048_576;
/** Below it they are read again. By then they are full, and few large reads cost less than many small ones. */
const LOW_WATER = 262_144;
/** What comes while the consumer is busy is gathered in pieces of up to a full pipe. */
const PIECE_BYTES = 65_536;
/** Counted per event, so that a program writing single bytes to both streams cannot queue a million objects. */
const EVENT_COST = 256;

interface Queued {
  event: CommandEvent;
  /** Holds the event's data, and may have room behind it. */
  piece: Buffer;
  cost: number;
}

/**
 * The consumer's side of one command: a bounded queue of events. The producer never waits; `write` says when to stop.
 * Single use: one consumer, one loop.
 */
export class EventQueue implements Execution, AsyncIterator<CommandEvent> {
  readonly #onDrain: () => void;
  readonly #onLeave: () => void;
  #events: Queued[] = [];
  #bytes = 0;
  #full = false;
  #ended = false;
  #error: unknown;
  #waiting: { resolve: (result: IteratorResult<CommandEvent>) => void; reject: (error: unknown) => void } | undefined;

  /** `onDrain`: reading may go on. `onLeave`: the consumer left before the end. */
  constructor(onDrain: () => void, onLeave: () => void) {
    this.#onDrain = onDrain;
    this.#onLeave = onLeave;
  }

  /** Copies `data`. False: full; wait for `onDrain`. */
  write(stream: OutputStream, data: Uint8Array): boolean {
    if (this.#ended || data.length === 0) return true;
    const gathered = this.#gather(stream, data);
    if (gathered < data.length) this.#add(stream, data.subarray(gathered));
    this.#pump();
    this.#full ||= this.#bytes >= HIGH_WATER;
    return !this.#full;
  }

  /** Bytes held above what the producer was told to stop at. */
  get excess(): number {
    return Math.max(0, this.#bytes - HIGH_WATER);
  }

  exit(exitCode: number, durationMs: number): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#events.push({ event: { kind: 'exit', exitCode, durationMs }, piece: Buffer.alloc(0), cost: 0 });
    this.#pump();
  }

  /** Thrown after what is queued was delivered. */
  fail(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#pump();
  }

  [Symbol.asyncIterator](): AsyncIterator<CommandEvent> {
    return this;
  }

  next(): Promise<IteratorResult<CommandEvent>> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#pump();
    });
  }

  return(): Promise<IteratorResult<CommandEvent>> {
    const left = !this.#ended;
    this.#ended = true;
    this.#events = [];
    this.#bytes = 0;
    this.#error = undefined;
    if (left) this.#onLeave();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Puts what fits behind the last event's data, where that is of the same stream; answers how much did. */
  #gather(stream: OutputStream, data: Uint8Array): number {
    const last = this.#events.at(-1);
    if (last?.event.kind !== 'output' || last.event.stream !== stream) return 0;
    const used = last.event.data.length;
    const fits = Math.min(data.length, last.piece.length - used);
    if (fits <= 0) return 0;
    last.piece.set(data.subarray(0, fits), used);
    last.event.data = last.piece.subarray(0, used + fits);
    return fits;
  }

  /** An event of its own. After another of its stream it gets room for more: twice as much each time. */
  #add(stream: OutputStream, data: Uint8Array): void {
    const last = this.#events.at(-1);
    const follows = last?.event.kind === 'output' && last.event.stream === stream;
    const room = follows ? Math.min(PIECE_BYTES, 2 * last.piece.length) : 0;
    const piece = Buffer.allocUnsafe(Math.max(data.length, room));
    piece.set(data);
    const cost = piece.length + EVENT_COST;
    this.#bytes += cost;
    this.#events.push({ event: { kind: 'output', stream, data: piece.subarray(0, data.length) }, piece, cost });
  }

  #pump(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    const first = this.#events.shift();
    if (first) {
      this.#waiting = undefined;
      this.#bytes -= first.cost;
      if (this.#full && this.#bytes < LOW_WATER) {
        this.#full = false;
        this.#onDrain();
      }
      waiting.resolve({ done: false, value: first.event });
    } else if (this.#ended) {
      this.#waiting = undefined;
      const error = this.#error;
      this.#error = undefined;
      if (error === undefined) waiting.resolve({ done: true, value: undefined });
      else waiting.reject(error);
    }
  }
}
