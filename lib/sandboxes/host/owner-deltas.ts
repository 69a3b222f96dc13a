import { ServiceError } from '../../errors.ts';
import type { OwnerLimitSource } from '../../limits/stored-limits.ts';
import { HOME, LIMIT, type OwnerBytes, REMOVED, USED, WORKSPACE } from '../../workspaces/delta/owner-bytes.ts';

interface Owner {
  /** See `OwnerBytes.owner`. */
  readonly memory: BigInt64Array;
  sandboxes: number;
}

/**
 * The bytes that the deltas of all sandboxes of each owner keep together. The request worker counts open deltas and
 * enforces the limit for writes, through shared memory.
 */
export class OwnerDeltas {
  readonly #limits: OwnerLimitSource;
  readonly #owners = new Map<string, Owner>();

  constructor(limits: OwnerLimitSource) {
    this.#limits = limits;
  }

  /**
   * Counts a sandbox with the last known bytes of its delta and of HOME, until `remove`. undefined: nobody owns it, so it
   * is not limited.
   */
  add(ownerId: string, bytes: number, homeBytes = 0): OwnerBytes | undefined {
    if (ownerId === '') return undefined;
    const owner = this.#owners.get(ownerId) ?? { memory: shared(2), sandboxes: 0 };
    this.#owners.set(ownerId, owner);
    owner.sandboxes++;
    const own = shared(2);
    own[WORKSPACE] = BigInt(bytes);
    own[HOME] = BigInt(homeBytes);
    Atomics.add(owner.memory, USED, BigInt(bytes + homeBytes));
    this.limitChanged(ownerId);
    return { owner: owner.memory, own };
  }

  /** Ends the count of a sandbox whose delta is removed. */
  remove(ownerId: string, { own }: OwnerBytes): void {
    const bytes = [WORKSPACE, HOME].map((part) => Atomics.exchange(own, part, REMOVED));
    const owner = this.#owners.get(ownerId);
    if (bytes.includes(REMOVED) || owner === undefined) return;
    for (const each of bytes) Atomics.sub(owner.memory, USED, each);
    if (--owner.sandboxes === 0) this.#owners.delete(ownerId);
  }

  /** Call after the limits of the owner were set. */
  limitChanged(ownerId: string): void {
    const owner = this.#owners.get(ownerId);
    if (owner !== undefined) Atomics.store(owner.memory, LIMIT, BigInt(this.#limits.of(ownerId).delta_bytes));
  }

  /** RESOURCE_EXHAUSTED if the owner has reached its limit, or would exceed it with `more` bytes. */
  requireRoom(ownerId: string, more = 0): void {
    const owner = this.#owners.get(ownerId);
    const { delta_bytes: limit } = this.#limits.of(ownerId);
    if (limit === 0 || ownerId === '') return;
    const used = owner === undefined ? 0 : Number(Atomics.load(owner.memory, USED));
    if (used < limit && used + more <= limit) return;
    const keep = more > 0 ? `would keep ${used + more}` : `keep ${used}`;
    throw new ServiceError(
      'RESOURCE_EXHAUSTED',
      `the sandboxes of owner ${JSON.stringify(ownerId)} ${keep} bytes, ` +
        `the most is ${limit} (${this.#limits.placeOf(ownerId, 'delta_bytes')})`,
    );
  }
}

function shared(elements: number): BigInt64Array {
  return new BigInt64Array(new SharedArrayBuffer(elements * BigInt64Array.BYTES_PER_ELEMENT));
}
