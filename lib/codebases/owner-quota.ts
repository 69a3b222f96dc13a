import { ServiceError } from '../errors.ts';
import type { OwnerLimitSource } from '../limits/stored-limits.ts';

export interface OwnedCodebases {
  /** Ids of the codebases of an owner. */
  of(ownerId: string): Iterable<string>;
  /** Bytes of a codebase as last counted; undefined: it was not counted yet. */
  bytesOf(id: string): number | undefined;
  /** Counts a codebase. Waits for the changes in progress. */
  count(id: string): Promise<unknown>;
}

/** The number of codebases of each owner, and the bytes of their files together. */
export class OwnerQuota {
  readonly #owners: OwnerLimitSource;
  readonly #codebases: OwnedCodebases;
  /** Number of codebases being created, by owner. */
  readonly #creating = new Map<string, number>();
  /**
   * By codebase id: the growth that the change in progress was admitted with, which the totals do not have yet. The
   * changes of one codebase are serial.
   */
  readonly #reserved = new Map<string, number>();

  constructor(owners: OwnerLimitSource, codebases: OwnedCodebases) {
    this.#owners = owners;
    this.#codebases = codebases;
  }

  /**
   * Counts a codebase that has no record yet. RESOURCE_EXHAUSTED if the owner has all it may have. The caller must call
   * the returned function before it stores the record.
   */
  beginCreate(ownerId: string): () => void {
    const { codebases: most } = this.#owners.of(ownerId);
    const creating = this.#creating.get(ownerId) ?? 0;
    const count = most === 0 ? 0 : [...this.#codebases.of(ownerId)].length + creating;
    if (most > 0 && count >= most) {
      throw new ServiceError(
        'RESOURCE_EXHAUSTED',
        `owner ${JSON.stringify(ownerId)} has ${count} codebases, ` +
          `the most is ${most} (${this.#owners.placeOf(ownerId, 'codebases')})`,
      );
    }
    this.#creating.set(ownerId, creating + 1);
    return () => {
      const left = (this.#creating.get(ownerId) ?? 1) - 1;
      if (left > 0) this.#creating.set(ownerId, left);
      else this.#creating.delete(ownerId);
    };
  }

  /**
   * Counts the codebases of the owner that were not counted since the start, if their bytes are limited. Must not be
   * called from the queue of a codebase, because it waits for those of the others. A damaged one counts as empty.
   */
  async count(ownerId: string): Promise<void> {
    if (!this.#isLimited(ownerId)) return;
    for (const id of [...this.#codebases.of(ownerId)]) {
      if (this.#codebases.bytesOf(id) === undefined) await this.#codebases.count(id).catch(() => undefined);
    }
  }

  /** The share of one codebase in the bytes of its owner. */
  shareOf(id: string, ownerId: string): OwnerShare {
    return {
      isLimited: () => this.#isLimited(ownerId),
      room: () => this.#room(id, ownerId),
      refusal: (bytes) => this.#refusal(id, ownerId, bytes),
      reserve: (bytes) => {
        if (bytes > (this.#reserved.get(id) ?? 0) && this.#isLimited(ownerId)) this.#reserved.set(id, bytes);
      },
      release: () => void this.#reserved.delete(id),
    };
  }

  #isLimited(ownerId: string): boolean {
    return this.#owners.of(ownerId).stored_bytes > 0;
  }

  #room(id: string, ownerId: string): number {
    const { stored_bytes: limit } = this.#owners.of(ownerId);
    return limit === 0 ? Number.POSITIVE_INFINITY : limit - this.#held(id, ownerId);
  }

  #refusal(id: string, ownerId: string, bytes: number): ServiceError | undefined {
    return ownerRefusal(this.#bytesOf(ownerId, this.#held(id, ownerId)), bytes);
  }

  /** What the owner stores and may store; undefined: there is no limit. */
  of(ownerId: string): OwnerBytes | undefined {
    return this.#isLimited(ownerId) ? this.#bytesOf(ownerId, this.#held('', ownerId)) : undefined;
  }

  #bytesOf(owner: string, held: number): OwnerBytes {
    return {
      owner,
      held,
      limit: this.#owners.of(owner).stored_bytes,
      place: this.#owners.placeOf(owner, 'stored_bytes'),
    };
  }

  /** Bytes of all codebases of the owner, with the reservations of all but `id`. */
  #held(id: string, ownerId: string): number {
    let bytes = 0;
    for (const each of this.#codebases.of(ownerId)) {
      bytes += this.#codebases.bytesOf(each) ?? 0;
      if (each !== id) bytes += this.#reserved.get(each) ?? 0;
    }
    return bytes;
  }
}

/** The bytes of all codebases of an owner, with a limit. */
export interface OwnerBytes {
  readonly owner: string;
  readonly held: number;
  /** 0: none. */
  readonly limit: number;
  /** Where it was set. */
  readonly place: string;
}

/** RESOURCE_EXHAUSTED if the codebases may not hold so many bytes more. */
export function ownerRefusal({ owner, held, limit, place }: OwnerBytes, bytes: number): ServiceError | undefined {
  if (limit === 0 || held + bytes <= limit) return undefined;
  return new ServiceError(
    'RESOURCE_EXHAUSTED',
    `the codebases of owner ${JSON.stringify(owner)} would hold ${held + bytes} bytes, the most is ${limit} (${place})`,
  );
}

/** What one codebase may take of the bytes of its owner. */
export interface OwnerShare {
  isLimited(): boolean;
  /** Bytes by which the codebase may grow. */
  room(): number;
  /** RESOURCE_EXHAUSTED if it may not grow by `bytes`. */
  refusal(bytes: number): ServiceError | undefined;
  /** Counts growth for the other codebases until `release`. */
  reserve(bytes: number): void;
  release(): void;
}
