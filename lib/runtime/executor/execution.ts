import type { OutputStream } from '../../messages.ts';
import type { CommandEvent, Execution } from '../runtime.ts';

/** Output held for a consumer that does not read; above it the pipes are left alone and the program waits. */
const HIGH_WATER = 1_048_576;
/** Counted per event, so that a program writing single bytes cannot queue a million objects. */
const EVENT_COST = 256;

/**
 * The consumer's side of one command: a bounded queue of events. The producer never waits; `write` says when to stop.
 * Single use: one consumer, one loop.
 */
export class EventQueue implements Execution, AsyncIterator<CommandEvent> {
  readonly #onDrain: () => void;
  readonly #onLeave: () => void;
  #events: CommandEvent[] = [];
  #bytes = 0;
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
    const copy = Buffer.from(data);
    this.#bytes += copy.length + EVENT_COST;
    this.#events.push({ kind: 'output', stream, data: copy });
    this.#pump();
    return this.#bytes < HIGH_WATER;
  }

  exit(exitCode: number, durationMs: number): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#events.push({ kind: 'exit', exitCode, durationMs });
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

  #pump(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    const event = this.#events.shift();
    if (event) {
      this.#waiting = undefined;
      if (event.kind === 'output') {
        const full = this.#bytes >= HIGH_WATER;
        this.#bytes -= event.data.length + EVENT_COST;
        if (full && this.#bytes < HIGH_WATER) this.#onDrain();
      }
      waiting.resolve({ done: false, value: event });
    } else if (this.#ended) {
      this.#waiting = undefined;
      const error = this.#error;
      this.#error = undefined;
      if (error === undefined) waiting.resolve({ done: true, value: undefined });
      else waiting.reject(error);
    }
  }
}
