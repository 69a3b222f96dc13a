import type { Caller, CreatedKey, Key, Ticket } from '../contract/messages.ts';
import { invalidArgument, ServiceError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { KeyRecord, Table } from '../metadata/metadata.ts';
import { shownKey } from '../metadata/shown.ts';
import { notFound } from '../not-found.ts';
import { type Page, pageById } from '../paging.ts';
import type { Keys, NewKey } from '../services.ts';
import { invalidKey, unauthenticated } from './credentials.ts';
import type { KeyFiles } from './key-files.ts';
import { type KeyParts, matches } from './key-format.ts';
import { newKey } from './new-key.ts';
import type { Principal, Role, Scope } from './principal.ts';
import type { Owners } from './target.ts';
import { type Tickets, targetOfPath } from './tickets.ts';

/** A key is removed when it has been expired for this time: until then it is listed, and its use names the reason. */
const EXPIRED_SECONDS = 7 * 24 * 3600;
/** Keys of one owner: every change of the metadata writes all of them. */
const MAX_KEYS_PER_OWNER = 1000;
/** The last use of a key is stored at most this often. */
const USE_SECONDS = 60;

export interface StoredKeysOptions {
  records: Table<KeyRecord>;
  /** Keys created on the host. */
  files: KeyFiles;
  /** The admin key of the environment, which is not stored. */
  fixed: KeyRecord | undefined;
  owners: Pick<Owners, 'sandbox'>;
  tickets: Tickets;
  /** Owner of a sandbox that is gone, which its agents are told as long as this is known. */
  ownerOfGone: ((sandboxId: string) => string | undefined) | undefined;
  /** Called when a key is revoked, durably. */
  revoked: (id: string, reason: ServiceError) => void;
  /** Wall-clock time in milliseconds since the epoch. */
  now: () => number;
  log: Log;
}

/** The keys in the metadata. */
export class StoredKeys implements Keys {
  readonly #options: StoredKeysOptions;

  constructor(options: StoredKeysOptions) {
    this.#options = options;
    for (const id of options.files.ids()) this.#take(id);
  }

  /** Whether there is a key of role admin, without which no other key can be created. */
  get hasAdmin(): boolean {
    const { fixed, records } = this.#options;
    return fixed !== undefined || [...records.values()].some(({ role }) => role === 'admin');
  }

  /** Owner of a key; undefined if it does not exist. */
  ownerOf(id: string): string | undefined {
    return this.#find(id)?.owner_id;
  }

  /** The caller who has the key. UNAUTHENTICATED for one that is not valid or has expired. Records the use. */
  authenticate({ id, secret }: KeyParts): Principal {
    const record = this.#find(id);
    if (!matches(secret, record?.sha256) || record === undefined) throw invalidKey();
    const now = this.#seconds();
    if (record.expires_at !== 0 && record.expires_at <= now) throw expiredKey();
    if (now - record.last_used_at >= USE_SECONDS && id !== this.#options.fixed?.id) this.#recordUse(record, now);
    return principalOf(record);
  }

  /** The caller who has the ticket: it dies with its key. */
  authenticateTicket({ value, target }: { value: string; target: string }): Principal {
    const record = this.#find(this.#options.tickets.redeem(value, target));
    if (record === undefined) throw invalidKey();
    if (record.expires_at !== 0 && record.expires_at <= this.#seconds()) throw expiredKey();
    return principalOf(record);
  }

  createTicket(path: string, { key_id }: Principal): Ticket {
    return this.#options.tickets.create(key_id, targetOfPath(path));
  }

  async create(request: NewKey, createdBy: string): Promise<CreatedKey> {
    const { name, scopes, expires_in } = request;
    const { now, records } = this.#options;
    const expires_at = expires_in === 0 ? 0 : this.#seconds() + expires_in;
    const { record, text } = newKey(
      { name, ...this.#holder(request), scopes, expires_at, created_by: createdBy },
      now(),
    );
    if (this.#find(record.id)) return this.create(request, createdBy);
    this.#requireRoom(record.owner_id);
    await records.put(request.intent === undefined ? record : { ...record, intent: request.intent });
    return { key: shownKey(record), secret: text, notice: '' };
  }

  list({ owner_id, ...page }: { owner_id: string } & Page): { keys: Key[]; next_page_token: string } {
    const all = [...this.#options.records.values()].filter((each) => owner_id === '' || each.owner_id === owner_id);
    const { items, next_page_token } = pageById(JSON.stringify(['keys', owner_id]), all, page, shownKey);
    return { keys: items, next_page_token };
  }

  async revoke(id: string): Promise<void> {
    const { fixed, files, records, revoked } = this.#options;
    if (id === fixed?.id) {
      throw new ServiceError(
        'FAILED_PRECONDITION',
        'the key is set by PADDOCK_ADMIN_KEY; restart the server without it',
      );
    }
    if (!this.#find(id)) throw notFound('key', id);
    // First, so that the key does not come back with the next start.
    files.remove(id);
    await records.remove(id);
    revoked(id, unauthenticated('the key was revoked'));
  }

  async expire(): Promise<void> {
    const { log, ownerOfGone, owners, records, revoked } = this.#options;
    const isKnown = (id: string) => owners.sandbox(id) !== undefined || ownerOfGone?.(id) !== undefined;
    const before = this.#seconds() - EXPIRED_SECONDS;
    const isStale = ({ expires_at, role, sandbox_id }: KeyRecord) =>
      (expires_at !== 0 && expires_at <= before) || (role === 'agent' && !isKnown(sandbox_id));
    const stale = [...records.values()].filter(isStale);
    await Promise.all(
      stale.map(async ({ id }) => {
        await records.remove(id);
        revoked(id, invalidKey());
        log.info('key that cannot be used again was removed', { key_id: id });
      }),
    );
  }

  describe({ key_id, role, owner_id, sandbox_id, scopes }: Principal): Caller {
    const record = this.#find(key_id);
    return { role, owner_id, sandbox_id, scopes, ...(record && { key: shownKey(record) }) };
  }

  #requireRoom(ownerId: string): void {
    // Those whose `put` is in progress are among them.
    let count = 0;
    for (const { owner_id } of this.#options.records.values()) if (owner_id === ownerId) count++;
    if (count < MAX_KEYS_PER_OWNER) return;
    throw new ServiceError(
      'RESOURCE_EXHAUSTED',
      `owner ${JSON.stringify(ownerId)} has ${count} keys, the most is ${MAX_KEYS_PER_OWNER}: revoke keys that are not in use`,
    );
  }

  #find(id: string): KeyRecord | undefined {
    const { fixed, records } = this.#options;
    if (fixed !== undefined && id === fixed.id) return fixed;
    return records.get(id) ?? this.#take(id);
  }

  /** Moves a key that was created on the host into the metadata. */
  #take(id: string): KeyRecord | undefined {
    const { files, log, records } = this.#options;
    if (!/^[0-9a-z]{8}$/.test(id)) return undefined;
    try {
      const record = files.has(id) ? files.read(id) : undefined;
      if (record === undefined) return undefined;
      const failed = (err: unknown) => log.error('key of the host could not be stored', { key_id: id, err });
      records
        .put(record)
        .then(() => files.remove(id))
        .catch(failed);
      log.info('key created on the host is in use', { key_id: id });
      return record;
    } catch (err) {
      log.error('key of the host cannot be read', { key_id: id, err });
      return undefined;
    }
  }

  /** The role of a new key, with its owner and sandbox. */
  #holder({ role, owner_id, sandbox_id }: NewKey): { role: Role; owner_id: string; sandbox_id: string } {
    if (role !== 'agent' && sandbox_id !== '') throw invalidArgument('sandbox_id', 'is only for keys of role agent');
    switch (role) {
      case 'admin':
        if (owner_id !== '') throw invalidArgument('owner_id', 'must be empty for a key of role admin');
        return { role, owner_id, sandbox_id };
      case 'agent': {
        if (sandbox_id === '') throw invalidArgument('sandbox_id', 'is required for a key of role agent');
        const owner = this.#options.owners.sandbox(sandbox_id);
        if (owner === undefined || (owner_id !== '' && owner_id !== owner)) throw notFound('sandbox', sandbox_id);
        return { role, owner_id: owner, sandbox_id };
      }
      default:
        if (owner_id === '') throw invalidArgument('owner_id', 'is required for a key of role owner');
        return { role: 'owner', owner_id, sandbox_id };
    }
  }

  #recordUse(record: KeyRecord, now: number): void {
    const { log, records } = this.#options;
    records.put({ ...record, last_used_at: now }).catch((err: unknown) => {
      log.warn('last use of a key could not be stored', { key_id: record.id, err });
    });
  }

  #seconds(): number {
    return Math.floor(this.#options.now() / 1000);
  }
}

function principalOf(record: KeyRecord): Principal {
  const { id, role, owner_id, sandbox_id, scopes, expires_at } = record;
  return { key_id: id, role: role as Role, owner_id, sandbox_id, scopes: scopes as readonly Scope[], expires_at };
}

export function expiredKey(): ServiceError {
  return unauthenticated('the key has expired');
}
