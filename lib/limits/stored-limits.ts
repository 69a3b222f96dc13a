import type { OwnerLimits, OwnerSettings } from '../contract/messages.ts';
import { invalidArgument, ServiceError } from '../errors.ts';
import type { OwnerRecord, Table } from '../metadata/metadata.ts';
import type { LimitsOfOwners } from '../services.ts';
import { type EffectiveLimits, NO_LIMITS } from './limits.ts';

/** The limits of an owner, and where each of them is set. */
export interface OwnerLimitSource {
  of(ownerId: string): EffectiveLimits;
  /** Completes a text in brackets: "(limits.per_owner.commands)". */
  placeOf(ownerId: string, limit: keyof EffectiveLimits): string;
}

/** The configured limits, with those that admins have set for single owners. */
export class StoredLimits implements LimitsOfOwners, OwnerLimitSource {
  readonly #records: Table<OwnerRecord>;
  readonly #configured: EffectiveLimits;
  /** By record, which is immutable: `of` is called for each call. */
  readonly #merged = new WeakMap<OwnerRecord, EffectiveLimits>();

  constructor(records: Table<OwnerRecord>, configured: EffectiveLimits) {
    this.#records = records;
    this.#configured = configured;
  }

  /** What belongs to no owner is limited like before there were owners: by the number of sandboxes only. */
  of(ownerId: string): EffectiveLimits {
    if (ownerId === '') return { ...NO_LIMITS, sandboxes: this.#configured.sandboxes };
    const record = this.#records.get(ownerId);
    if (record === undefined) return this.#configured;
    const known = this.#merged.get(record);
    if (known !== undefined) return known;
    const merged = { ...this.#configured, ...record.limits };
    this.#merged.set(record, merged);
    return merged;
  }

  placeOf(ownerId: string, limit: keyof EffectiveLimits): string {
    if (this.#records.get(ownerId)?.limits[limit] !== undefined) return `${limit} of the owner’s limits`;
    return limit === 'sandboxes' ? 'sandbox.max_per_user' : `limits.per_owner.${limit}`;
  }

  async set(ownerId: string, limits: OwnerLimits): Promise<OwnerSettings> {
    if (ownerId === '') throw invalidArgument('owner_id', 'is required');
    const given = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
    if (Object.keys(given).length === 0) await this.#records.remove(ownerId);
    else await this.#records.put({ id: ownerId, limits: given });
    return this.get(ownerId);
  }

  get(ownerId: string): OwnerSettings {
    if (ownerId === '') throw invalidArgument('owner_id', 'is required');
    return { owner_id: ownerId, set: { ...this.#records.get(ownerId)?.limits }, effective: { ...this.of(ownerId) } };
  }
}

/** Without authentication nobody is told apart, so only the number of sandboxes of an owner is limited. */
export function unlimitedOwners(maxPerUser: number): LimitsOfOwners & OwnerLimitSource {
  const limits = { ...NO_LIMITS, sandboxes: maxPerUser };
  return {
    of: () => limits,
    placeOf: () => 'sandbox.max_per_user',
    set: async () => refuse(),
    get: refuse,
  };
}

function refuse(): never {
  throw new ServiceError(
    'FAILED_PRECONDITION',
    'the server has no limits of owners: its configuration has auth.mode: off',
  );
}
