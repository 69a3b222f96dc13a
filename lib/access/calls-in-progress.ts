import type { ServiceError } from '../errors.ts';

type End = (reason: ServiceError) => void;

interface CallsOfKey {
  ends: Set<End>;
  timer: NodeJS.Timeout | undefined;
}

/** A timer of Node has at most 2^31 - 1 ms; a longer one fires at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

export interface CallsOptions {
  /** Wall-clock time in milliseconds since the epoch. */
  now: () => number;
  /** The error for calls of a key that has expired. */
  expired: () => ServiceError;
}

/** The calls in progress of each key. They end when their key is revoked or expires. */
export class CallsInProgress {
  readonly #keys = new Map<string, CallsOfKey>();
  readonly #options: CallsOptions;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Registers a call until the returned function is called. `expiresAt`: Unix time in seconds; 0: never. */
  add(keyId: string, expiresAt: number, end: End): () => void {
    let calls = this.#keys.get(keyId);
    if (calls === undefined) {
      calls = { ends: new Set(), timer: undefined };
      this.#keys.set(keyId, calls);
      if (expiresAt !== 0) this.#endAt(keyId, calls, expiresAt * 1000);
    }
    const { ends } = calls;
    ends.add(end);
    return () => {
      ends.delete(end);
      if (ends.size === 0 && this.#keys.get(keyId)?.ends === ends) this.#forget(keyId);
    };
  }

  /** Ends all calls of a key. */
  end(keyId: string, reason: ServiceError): void {
    const ends = this.#keys.get(keyId)?.ends ?? [];
    this.#forget(keyId);
    for (const end of ends) end(reason);
  }

  #endAt(keyId: string, calls: CallsOfKey, at: number): void {
    const left = at - this.#options.now();
    const check = () =>
      this.#options.now() < at ? this.#endAt(keyId, calls, at) : this.end(keyId, this.#options.expired());
    calls.timer = setTimeout(check, Math.min(Math.max(left, 1), LONGEST_TIMER));
    calls.timer.unref();
  }

  #forget(keyId: string): void {
    clearTimeout(this.#keys.get(keyId)?.timer);
    this.#keys.delete(keyId);
  }
}
