import type { OutputStream } from '../../contract/messages.ts';
import { giveBack, largeBuffer, RECYCLED_BYTES, recycledBuffer, sharedView } from '../../recycled-buffers.ts';
import type { CommandEvent, Execution } from '../runtime.ts';
import { READ_BYTES } from './pipe-reader.ts';

/** Bytes of output held for a slow consumer; above it reading pauses and the program blocks. */
const HIGH_WATER = 1_048_576;
/** Below it reading resumes. By then the pipes are full, and few large reads cost less than many small ones. */
const LOW_WATER = 262_144;
/** Output that arrives while the consumer is busy is merged into pieces of up to a full pipe. */
const PIECE_BYTES = RECYCLED_BYTES;
/** Pieces of more bytes are in buffers that are used again. */
const SMALL = 4096;
/**
 * Fixed cost per event in bytes, so that a program that writes single bytes to both streams cannot queue a million
 * objects.
 */
export const EVENT_COST = 256;

interface Queued {
  event: CommandEvent;
  /** Holds the event's data, and may have room after it. */
  piece: Buffer;
  cost: number;
}

/**
 * The consumer's side of one command: a bounded queue of events. The producer never waits; `write` returns whether to
 * pause. Single use: one consumer, one loop.
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

  /** `onDrain`: reading may resume. `onLeave`: the consumer left before the end. */
  constructor(onDrain: () => void, onLeave: () => void) {
    this.#onDrain = onDrain;
    this.#onLeave = onLeave;
  }

  /**
   * Copies `data`, or keeps `piece`, which begins with it (see `Sink`). Returns false if the queue is full: pause until
   * `onDrain`.
   */
  write(stream: OutputStream, data: Uint8Array, piece?: Buffer): boolean {
    if (this.#ended || data.length === 0) return true;
    if (piece !== undefined) this.#push(stream, data.length, sharedView(piece, 0, piece.length));
    else {
      const gathered = this.#gather(stream, data);
      if (gathered < data.length) this.#add(stream, data.subarray(gathered));
    }
    this.#pump();
    this.#full ||= this.#bytes >= HIGH_WATER;
    return !this.#full;
  }

  /** Bytes held above the limit at which the producer was paused. */
  get excess(): number {
    return Math.max(0, this.#bytes - HIGH_WATER);
  }

  /** Ends the events with the exit code (128+N for signal N). Ignored after the end. */
  exit(exitCode: number, durationMs: number, outOfMemory: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#events.push({ event: { kind: 'exit', exitCode, durationMs, outOfMemory }, piece: Buffer.alloc(0), cost: 0 });
    this.#pump();
  }

  /** Throws the error to the consumer after all queued events. */
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
    for (const { piece } of this.#events.splice(0)) giveBack(piece);
    this.#bytes = 0;
    this.#error = undefined;
    if (left) this.#onLeave();
    return Promise.resolve({ done: true, value: undefined });
  }

  /**
   * Appends as much as fits to the last event's data, if that has the same stream. Returns the number of bytes
   * appended.
   */
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

  /** Adds a new event. If the last event has the same stream, it gets room for more: twice as much each time. */
  #add(stream: OutputStream, data: Uint8Array): void {
    const last = this.#events.at(-1);
    const follows = last?.event.kind === 'output' && last.event.stream === stream;
    const room = follows ? Math.min(PIECE_BYTES, 2 * last.piece.length) : 0;
    const needed = Math.max(data.length, room);
    const piece = bufferFor(needed);
    piece.set(data);
    this.#push(stream, data.length, piece);
  }

  #push(stream: OutputStream, length: number, piece: Buffer): void {
    const cost = piece.length + EVENT_COST;
    this.#bytes += cost;
    this.#events.push({ event: { kind: 'output', stream, data: piece.subarray(0, length) }, piece, cost });
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
      waiting.resolve({ done: false, value: handedOver(first) });
    } else if (this.#ended) {
      this.#waiting = undefined;
      const error = this.#error;
      this.#error = undefined;
      if (error === undefined) waiting.resolve({ done: true, value: undefined });
      else waiting.reject(error);
    }
  }
}

function bufferFor(size: number): Buffer {
  if (size <= SMALL) return Buffer.allocUnsafe(size);
  if (size <= PIECE_BYTES) return recycledBuffer();
  // Of one of two sizes, so that the next one can use it; a reader that keeps some of them counts the bytes of data only.
  return largeBuffer(size <= READ_BYTES / 2 ? READ_BYTES / 2 : Math.max(size, READ_BYTES));
}

/** The consumer may give back the data of an event, which nothing changes any more. */
function handedOver({ event, piece }: Queued): CommandEvent {
  if (event.kind !== 'output') return event;
  const data = sharedView(piece, 0, event.data.length);
  giveBack(piece);
  return { ...event, data };
}
