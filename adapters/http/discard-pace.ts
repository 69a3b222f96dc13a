import type { IncomingMessage } from 'node:http';

/** Bytes of refused bodies that are read and discarded in a second, of all connections together. */
const BYTES_PER_SECOND = 32 * 1024 * 1024;
/** Counted for a body whose length is not known. */
const CHUNKED_BYTES = 1024 * 1024;
/** If more is due before a request, it waits for half of this time to one and a half. */
const MAX_WAIT_MS = 5000;
/** Successive multiples of it, without their whole parts, are spread evenly between 0 and 1. */
const GOLDEN_RATIO = 0.618_034;

/**
 * Spreads the bodies of repeatedly refused requests over time. The threat: a client whose requests with large bodies are
 * refused keeps the server busy with reading bytes to discard. Until its answer is due, nothing of a body is read: TCP
 * holds back its bytes, and the client waits for the answer before its next request.
 */
export class DiscardPace {
  readonly #now: () => number;
  /** When the bodies so far will have been discarded. */
  #due = 0;
  #late = 0;

  /** `now`: a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the milliseconds after which the request's body may be discarded. Call once for each request. */
  wait({ headers }: Pick<IncomingMessage, 'headers'>): number {
    const now = this.#now();
    const backlog = Math.max(0, this.#due - now);
    const bytes = headers['transfer-encoding'] === undefined ? Number(headers['content-length']) : CHUNKED_BYTES;
    // Bounded: lengths that are only announced must not delay the requests of others for longer.
    this.#due = now + Math.min(backlog + (bytes * 1000) / BYTES_PER_SECOND, 2 * MAX_WAIT_MS);
    if (backlog <= MAX_WAIT_MS) return backlog;
    return MAX_WAIT_MS * (0.5 + ((this.#late++ * GOLDEN_RATIO) % 1));
  }
}
