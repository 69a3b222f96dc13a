/** How long to poll for the next request, in ms: programs usually send the next request immediately. */
const POLL_MS = 0.05;
/** Upper limit of the back-off: at most `2 ** MAX_BACKOFF - 1` requests are read without polling. */
const MAX_BACKOFF = 6;

/**
 * A descriptor of the device. `read` is read(2): it returns the number of bytes, or undefined if there is no request.
 */
export interface Descriptor {
  readonly fd: number;
  read(into: Buffer): number | undefined;
}

/**
 * Reads requests. Waking a thread from read(2) on an idle CPU takes longer than serving a request, so after each
 * request the reader polls a non-blocking descriptor for a moment before it blocks. On a busy host, where polling takes
 * CPU time from the programs, it seldom finds a request, and the exponential back-off stops it.
 */
export class RequestReader {
  readonly #blocking: Descriptor;
  readonly #nonBlocking: Descriptor | undefined;
  readonly #workAhead: () => boolean;
  readonly #polls: boolean;
  readonly #now: () => number;
  #backoff = 0;
  #pollsToSkip = 0;
  /** Descriptor that the last request was read from; its reply must be written to the same one. */
  fd: number;
  /** Whether `next` waited for the last request. If not, more may wait in the kernel's queue. */
  hasWaited = true;

  /**
   * The caller owns the descriptors. `workAhead`: does some microseconds of work for later requests, and returns false if
   * there is none; `polls`: `next` polls; `now`: a clock in ms.
   */
  constructor(
    blocking: Descriptor,
    nonBlocking: Descriptor | undefined,
    workAhead: () => boolean = () => false,
    polls = true,
    now: () => number = () => performance.now(),
  ) {
    this.#blocking = blocking;
    this.#nonBlocking = nonBlocking;
    this.#workAhead = workAhead;
    this.#polls = polls;
    this.#now = now;
    this.fd = blocking.fd;
  }

  /** As `next`, without waiting: undefined if there is no request. */
  take(into: Buffer): number | undefined {
    const length = this.#nonBlocking?.read(into);
    if (length !== undefined) this.fd = this.#nonBlocking!.fd;
    return length;
  }

  /**
   * Reads the next request into `into` and returns its size in bytes; 0: the request was interrupted. Throws the errors
   * of read(2).
   */
  next(into: Buffer): number {
    const taken = this.take(into);
    this.hasWaited = taken === undefined;
    if (taken !== undefined) {
      if (this.#pollsToSkip-- <= 0) this.#backoff = Math.max(0, this.#backoff - 1);
      return taken;
    }
    if (this.#nonBlocking !== undefined && this.#polls && (this.#pollsToSkip-- <= 0 || this.#workAhead())) {
      const length = this.#poll(this.#nonBlocking, into);
      if (length !== undefined) {
        this.#backoff = Math.max(0, this.#backoff - 1);
        this.fd = this.#nonBlocking.fd;
        return length;
      }
      this.#pollsToSkip = 2 ** this.#backoff - 1;
      this.#backoff = Math.min(this.#backoff + 1, MAX_BACKOFF);
    }
    this.fd = this.#blocking.fd;
    return this.#blocking.read(into) ?? 0;
  }

  /** After a read that found no request. */
  #poll(nonBlocking: Descriptor, into: Buffer): number | undefined {
    for (let until = this.#now() + POLL_MS; ; ) {
      const worked = this.#workAhead();
      const length = nonBlocking.read(into);
      if (length !== undefined) return length;
      if (worked) until = this.#now() + POLL_MS;
      else if (this.#now() > until) return undefined;
    }
  }
}
