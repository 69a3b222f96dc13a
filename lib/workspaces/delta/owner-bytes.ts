import { EDQUOT, Errno } from '../../linux/errno.ts';

/** EDQUOT of the limit of the sandbox's owner, of which messages say so. */
export const OWNER_EDQUOT = new Errno(EDQUOT.errno);

/** Elements of `OwnerBytes.owner`. */
export const USED = 0;
export const LIMIT = 1;
/** Elements of `OwnerBytes.own`. */
export const WORKSPACE = 0;
export const HOME = 1;
/** In `OwnerBytes.own`: the sandbox was destroyed and counts for nobody. */
export const REMOVED = -1n;

/**
 * Bytes of deltas, in memory that is shared by the main thread and the request worker. While a delta is not open, its
 * bytes count as last known.
 */
export interface OwnerBytes {
  /** Of the owner: bytes of all its sandboxes; their limit, 0: none. */
  readonly owner: BigInt64Array;
  /** Of one sandbox, counted in the owner's: those of WORKSPACE and of HOME. */
  readonly own: BigInt64Array;
}

/** The part of one open delta in the bytes of its owner. */
export class OwnerShare {
  readonly #memory: OwnerBytes;
  /** WORKSPACE or HOME. */
  readonly #part: number;
  #counted: number;

  constructor(memory: OwnerBytes, part = WORKSPACE) {
    this.#memory = memory;
    this.#part = part;
    this.#counted = Number(Atomics.load(memory.own, part));
  }

  /** Counts the present bytes of the delta. Does nothing once the sandbox is destroyed. */
  count(bytes: number): void {
    if (bytes === this.#counted) return;
    const { owner, own } = this.#memory;
    const before = BigInt(this.#counted);
    const now = BigInt(Math.max(0, bytes));
    // The main thread subtracts what it finds here when it destroys the sandbox.
    if (before === REMOVED || Atomics.compareExchange(own, this.#part, before, now) !== before) return;
    Atomics.add(owner, USED, now - before);
    this.#counted = Number(now);
  }

  /** Bytes by which all deltas of the owner together may grow. */
  get room(): number {
    const limit = this.limit;
    return limit === 0 ? Number.POSITIVE_INFINITY : limit - Number(Atomics.load(this.#memory.owner, USED));
  }

  /** In bytes; 0: none. */
  get limit(): number {
    return Number(Atomics.load(this.#memory.owner, LIMIT));
  }
}
