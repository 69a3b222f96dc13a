import { CountedCalls, type Exceeded } from './counted-calls.ts';
import type { CallLimits, Count } from './limits.ts';
import { Refusal } from './refusal.ts';
import type { RateState } from './token-bucket.ts';

/** A call that is counted until it is released. */
export interface CountedCall {
  /** What is left of the requests of the key or owner that has fewer; undefined: neither is limited. */
  rate: RateState | undefined;
  /** Must be called once, at the end of the call. */
  release(): void;
  /**
   * From now on the call's command is counted until the returned function is called, also after `release`. For a command
   * that goes on after its call. Further calls of that function do nothing.
   */
  keepCommand(): () => void;
  /**
   * A list waits until its owner has a place for it, which it has until `release`. Rejects with the reason of the signal.
   * Others do not wait.
   */
  place(signal: AbortSignal): Promise<void> | undefined;
}

/** A call without limits. */
export const UNCOUNTED: CountedCall = Object.freeze({
  rate: undefined,
  release: () => undefined,
  keepCommand: () => () => undefined,
  place: () => undefined,
});

export interface AdmissionOptions {
  /** The limits of each key. */
  perKey: CallLimits;
  /** The limits of an owner. */
  ofOwner(ownerId: string): CallLimits;
  /** Where an owner's limit is set; completes a text in brackets. */
  placeOf(ownerId: string, limit: keyof CallLimits): string;
  /** Monotonic clock in milliseconds. */
  now?: () => number;
}

/** Calls of this age are no longer needed: every bucket is full again after a minute at most. */
const IDLE_MS = 120_000;
/** Number of counters from which on idle ones are removed. */
const MANY = 1000;

/** Admits calls within the limits of their key and of its owner. Nothing is stored: a restart starts with full buckets. */
export class CallAdmission {
  readonly #options: AdmissionOptions;
  readonly #now: () => number;
  readonly #keys = new Map<string, CountedCalls>();
  readonly #owners = new Map<string, CountedCalls>();

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Counts a call. Throws RESOURCE_EXHAUSTED if it would exceed a limit of the key or of the owner. */
  begin(keyId: string, ownerId: string, counts: readonly Count[]): CountedCall {
    const { perKey, ofOwner, placeOf } = this.#options;
    const perOwner = ofOwner(ownerId);
    const key = this.#counted(this.#keys, keyId);
    const owner = this.#counted(this.#owners, ownerId);
    const ofKey = key.exceeded(perKey, counts);
    if (ofKey) throw refused('the key', ofKey, `limits.per_key.${ofKey.limit}`, key);
    const ofAll = owner.exceeded(perOwner, counts);
    if (ofAll) throw refused(`owner ${JSON.stringify(ownerId)}`, ofAll, placeOf(ownerId, ofAll.limit), owner);
    key.begin(perKey, counts);
    owner.begin(perOwner, counts);
    const end = (ended: readonly Count[]) => {
      key.end(ended);
      owner.end(ended);
    };
    let own = counts;
    let placed: Promise<void> | undefined;
    return {
      rate: fewer(key.requests(perKey), owner.requests(perOwner)),
      release: () => {
        end(own);
        own = [];
        placed?.then(
          () => owner.lists.give(),
          () => undefined,
        );
      },
      place: (signal) => {
        if (own.includes('list')) placed ??= owner.lists.take(keyId, signal);
        return placed;
      },
      keepCommand: () => {
        let kept = own.filter((count) => count === 'command');
        own = own.filter((count) => count !== 'command');
        return () => {
          end(kept);
          kept = [];
        };
      },
    };
  }

  /** Number of keys and owners that are remembered. */
  get size(): number {
    return this.#keys.size + this.#owners.size;
  }

  #counted(all: Map<string, CountedCalls>, id: string): CountedCalls {
    const known = all.get(id);
    if (known !== undefined) return known;
    if (all.size >= MANY) for (const [each, calls] of all) if (calls.isIdle(IDLE_MS)) all.delete(each);
    const added = new CountedCalls(this.#now);
    all.set(id, added);
    return added;
  }
}

function refused(
  who: string,
  { allowed, retryAfterMs, rate }: Exceeded,
  place: string,
  { pace }: CountedCalls,
): Refusal {
  return new Refusal('RESOURCE_EXHAUSTED', `${who} may ${allowed} (${place})`, {
    holdMs: pace.next(),
    retryAfterMs,
    rate,
  });
}

function fewer(a: RateState | undefined, b: RateState | undefined): RateState | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return b.remaining < a.remaining ? b : a;
}
