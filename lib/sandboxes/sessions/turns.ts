import { ServiceError } from '../../errors.ts';

/** Commands of one session that may wait for their turn. */
const MAX_WAITING = 64;

const cancelled = () => new ServiceError('CANCELLED', 'the client disconnected');

interface Waiter {
  start: () => void;
  fail: (error: ServiceError) => void;
}

/** Lets the commands of one session run one after the other, in the order in which they were sent. */
export class CommandTurns {
  readonly #waiting = new Set<Waiter>();
  #busy = false;

  /** Resolves when it is the caller's turn, which it ends by `next`. CANCELLED if `signal` is aborted before. */
  async take(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw cancelled();
    if (!this.#busy) {
      this.#busy = true;
      return;
    }
    if (this.#waiting.size >= MAX_WAITING) {
      throw new ServiceError('RESOURCE_EXHAUSTED', `${MAX_WAITING} commands of the session wait already`);
    }
    let waiter: Waiter | undefined;
    const cancel = () => {
      // At once: `next` must not give the turn to it.
      if (waiter !== undefined && this.#waiting.delete(waiter)) waiter.fail(cancelled());
    };
    try {
      await new Promise<void>((resolve, reject) => {
        waiter = { start: resolve, fail: reject };
        this.#waiting.add(waiter);
        signal.addEventListener('abort', cancel, { once: true });
      });
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#waiting.delete(waiter!);
    }
  }

  next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#busy = false;
      return;
    }
    this.#waiting.delete(first);
    first.start();
  }

  /** Ends the waiting of all. */
  fail(error: ServiceError): void {
    for (const waiter of this.#waiting) waiter.fail(error);
    this.#waiting.clear();
  }
}
