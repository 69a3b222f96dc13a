/** How long the next request is awaited awake, in ms: programs mostly ask for the next thing as soon as they can. */
const AWAKE_MS = 0.05;
/** So much more often in vain than not: so many requests, 2 to the power of it, are awaited asleep. */
const MAX_BACKOFF = 6;

/** read(2): the number of bytes, or undefined when there is nothing yet. */
export interface Descriptor {
  readonly fd: number;
  read(into: Buffer): number | undefined;
}

/**
 * Where requests come from. Waking a thread that sleeps in read(2) on an idle CPU takes longer than serving a request,
 * so after a request it looks for the next one for a moment by `eager`, which does not block, before it sleeps in
 * `blocking`. On a busy machine, where looking keeps others from running, it hardly ever finds one and soon desists.
 */
export class RequestReader {
  readonly #blocking: Descriptor;
  readonly #eager: Descriptor | undefined;
  readonly #now: () => number;
  #inVain = 0;
  #asleep = 0;
  /** What the last request came by: its answer goes the same way. */
  fd: number;

  constructor(blocking: Descriptor, eager: Descriptor | undefined, now: () => number = () => performance.now()) {
    this.#blocking = blocking;
    this.#eager = eager;
    this.#now = now;
    this.fd = blocking.fd;
  }

  /** Throws what read(2) does. 0 when there is no request after all. */
  next(into: Buffer): number {
    if (this.#eager !== undefined && this.#asleep-- <= 0) {
      const length = this.#look(this.#eager, into);
      if (length !== undefined) {
        this.#inVain = Math.max(0, this.#inVain - 1);
        this.fd = this.#eager.fd;
        return length;
      }
      this.#asleep = 2 ** this.#inVain - 1;
      this.#inVain = Math.min(this.#inVain + 1, MAX_BACKOFF);
    }
    this.fd = this.#blocking.fd;
    return this.#blocking.read(into) ?? 0;
  }

  #look(eager: Descriptor, into: Buffer): number | undefined {
    const until = this.#now() + AWAKE_MS;
    for (;;) {
      const length = eager.read(into);
      if (length !== undefined || this.#now() > until) return length;
    }
  }
}
