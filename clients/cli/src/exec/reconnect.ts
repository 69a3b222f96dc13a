import { setTimeout as delay } from 'node:timers/promises';

/** Seconds without a connection after which a command gives up. */
const MOST_MS = 60_000;
const LONGEST_WAIT_MS = 2000;

/** Waits between attempts to reach a server again, longer each time. */
export class Reconnect {
  readonly #signal: AbortSignal | undefined;
  readonly #most: number;
  #since: number | undefined;
  #wait = 100;

  constructor(signal?: AbortSignal, most = MOST_MS) {
    this.#signal = signal;
    this.#most = most;
  }

  /** Whether the last attempt failed. */
  get isTried(): boolean {
    return this.#since !== undefined;
  }

  /** There was a connection. */
  reset(): void {
    this.#since = undefined;
    this.#wait = 100;
  }

  /** Throws the error if it has lasted too long. */
  async wait(error: unknown): Promise<void> {
    this.#since ??= performance.now();
    if (performance.now() - this.#since > this.#most) throw error;
    await delay(this.#wait, undefined, { signal: this.#signal }).catch((aborted) => {
      throw this.#signal?.reason ?? aborted;
    });
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
  }
}
