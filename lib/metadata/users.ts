import { IdIndex } from '../id-index.ts';
import { byId, SortedList } from '../sorted-list.ts';
import type { SandboxRecord } from './metadata.ts';

/** Who has which sandboxes: by codebase, and by owner in the order of their expiry. */
export class Users {
  readonly #byCodebase = new IdIndex<SandboxRecord>();
  readonly #byOwner = new Map<string, SortedList<SandboxRecord>>();

  constructor(records: Iterable<SandboxRecord>) {
    for (const record of records) this.moved(undefined, record);
  }

  /** Call after each change of a record; undefined: there was, or is, none. */
  moved(before: SandboxRecord | undefined, after: SandboxRecord | undefined): void {
    if (before !== undefined) {
      this.#byCodebase.delete(before.codebase_id, before);
      const list = this.#byOwner.get(before.owner_id);
      list?.delete(before);
      if (list?.size === 0) this.#byOwner.delete(before.owner_id);
    }
    if (after === undefined) return;
    this.#byCodebase.add(after.codebase_id, after);
    let list = this.#byOwner.get(after.owner_id);
    if (list === undefined) {
      list = new SortedList<SandboxRecord>((a, b) => expiryOf(a) - expiryOf(b) || byId(a, b));
      this.#byOwner.set(after.owner_id, list);
    }
    list.add(after);
  }

  /** Ids of the sandboxes on a codebase. */
  of(codebaseId: string): string[] {
    return this.#byCodebase.of(codebaseId).map(({ id }) => id);
  }

  /** Number of the owner's sandboxes that have not expired. `now`: Unix time in milliseconds. */
  countOf(ownerId: string, now: number): number {
    const list = this.#byOwner.get(ownerId);
    return list === undefined ? 0 : list.size - list.count((record) => expiryOf(record) * 1000 <= now);
  }
}

/** The largest number instead of infinity, so that two of them can be compared by their difference. */
function expiryOf({ expires_at }: SandboxRecord): number {
  return expires_at === 0 ? Number.MAX_SAFE_INTEGER : expires_at;
}
