import type { ServiceError } from '../../errors.ts';
import type { GoneRecord, Metadata } from '../../metadata/metadata.ts';
import { missing, notFound } from '../../not-found.ts';
import type { Clock } from '../host/clock.ts';

/** Milliseconds for which the end of a sandbox is known. */
const KEPT_MS = 3_600_000;
/** Of all owners; the newest are kept. */
const MAX_KEPT = 1000;

/**
 * The sandboxes that the server itself destroyed within the last hour, because they had expired or were idle. They are
 * stored with the metadata, which then survive a restart, and cost no write of their own: each is written together with
 * the removal of its sandbox.
 */
export class GoneSandboxes {
  readonly #records: Metadata['gone'];
  readonly #clock: Clock;

  constructor({ gone }: Pick<Metadata, 'gone'>, clock: Clock) {
    this.#records = gone;
    this.#clock = clock;
  }

  /** Call together with the removal of the sandbox's record; durable when both are. */
  async add(record: GoneRecord): Promise<void> {
    const stored = this.#records.put(record);
    await Promise.all([stored, this.forgetOld()]);
  }

  /** Removes those that need not be known any more. */
  async forgetOld(): Promise<void> {
    const oldest = this.#clock.now() - KEPT_MS;
    const byTime = [...this.#records.values()].sort((a, b) => b.gone_at - a.gone_at);
    const old = byTime.filter(({ gone_at }, index) => index >= MAX_KEPT || gone_at * 1000 <= oldest);
    await Promise.all(old.map(({ id }) => this.#records.remove(id)));
  }

  /** Owner of a sandbox that is gone; undefined if that is not known. */
  ownerOf(id: string): string | undefined {
    return this.#find(id)?.owner_id;
  }

  /** NOT_FOUND for a sandbox that does not exist, with the reason and the time if it is known to be gone. */
  error(id: string): ServiceError {
    const gone = this.#find(id);
    if (gone === undefined) return notFound('sandbox', id);
    const { reason, since, gone_at } = gone;
    return missing('sandbox', id, `sandbox ${JSON.stringify(id)} no longer exists: ${sentence(gone)}`, [
      { reason, since, destroyed_at: gone_at },
    ]);
  }

  #find(id: string): GoneRecord | undefined {
    const gone = this.#records.get(id);
    return gone !== undefined && gone.gone_at * 1000 > this.#clock.now() - KEPT_MS ? gone : undefined;
  }
}

function sentence({ reason, since, gone_at }: GoneRecord): string {
  if (reason === 'expired') return `it expired at ${timeOf(since)} (expires_at) and was destroyed`;
  return `it was idle since ${timeOf(since)} and was destroyed at ${timeOf(gone_at)} (idle_timeout, on_idle "destroy")`;
}

/** `seconds`: Unix time. */
export function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}
