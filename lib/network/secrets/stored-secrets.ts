import type { PutSecretRequest, Secret } from '../../contract/messages.ts';
import { invalidArgument, ServiceError } from '../../errors.ts';
import type { SecretRecord, Table } from '../../metadata/metadata.ts';
import { type Page, pageById, scopeOf } from '../../paging.ts';
import { checkForm } from './placeholder.ts';
import { BrokenSealError, keyId, seal, sealedBytes, unseal } from './seal.ts';
import { NoKeyError, type SecretKey } from './secret-key.ts';

const MAX_SECRETS_PER_OWNER = 1000;
/** A server that reflects the value is found out by a search for it, which a shorter value would find everywhere. */
const LEAST_BYTES = 8;
const SUBJECT = ['owner_id', 'name', 'hosts', 'parts', 'header'] as const;

/** One secret of an owner. */
export interface SecretName {
  owner_id: string;
  name: string;
}

export interface StoredSecretsOptions {
  records: Table<SecretRecord>;
  key: SecretKey;
  /** Ids of the sandboxes that are bound to each secret, by the id of its record. */
  usedBy(ownerId: string): ReadonlyMap<string, readonly string[]>;
  /** Called after a secret was replaced or removed. */
  changed(name: SecretName): Promise<void>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The secrets of all owners. No error, answer or log entry has a value. */
export class StoredSecrets {
  readonly #options: StoredSecretsOptions;

  constructor(options: StoredSecretsOptions) {
    this.#options = options;
  }

  /** Durable when it resolves, and in force for the next request of each sandbox. */
  async put(request: PutSecretRequest): Promise<Secret> {
    const { owner_id, name, hosts, shape, keep_length } = request;
    const parts = request.parts.length === 0 ? ['header'] : [...new Set(request.parts)];
    checkValue(request.value, parts);
    if (request.header && !parts.includes('header')) {
      throw invalidArgument('header', 'must be empty unless parts has "header", or is empty');
    }
    checkForm({ name, shape, length: keep_length ? Buffer.byteLength(request.value) : undefined });
    const { records, now } = this.#options;
    const key = await this.#key(true);
    // Nothing is awaited from here to `put`.
    this.#refuseOtherKey(keyId(key));
    const id = secretId(request);
    const before = records.get(id);
    if (before === undefined) this.#requireRoom(owner_id);
    const time = Math.floor(now() / 1000);
    const revision = (before?.revision ?? 0) + 1;
    const plain = { id, name, owner_id, hosts: [...new Set(hosts)], parts, shape, keep_length };
    const header = request.header ? { header: request.header } : {};
    const record = { ...plain, ...header, created_at: before?.created_at ?? time, updated_at: time, revision };
    await records.put({ ...record, ...seal(key, request.value, subjectOf(record)) });
    await this.#options.changed(request);
    return this.get(request);
  }

  get(secret: SecretName): Secret {
    return shown(this.find(secret), this.#options.usedBy(secret.owner_id));
  }

  list({ owner_id, ...page }: { owner_id: string } & Page): { secrets: Secret[]; next_page_token: string } {
    const all = [...this.#options.records.values()].filter((each) => owner_id === '' || each.owner_id === owner_id);
    const used = this.#options.usedBy(owner_id);
    const { items, next_page_token } = pageById(scopeOf('secrets', [owner_id]), all, page, (each) => shown(each, used));
    return { secrets: items, next_page_token };
  }

  /** Needs no key, so that secrets whose key is lost can be removed. */
  async remove(secret: SecretName & { force: boolean }): Promise<void> {
    const { id } = this.find(secret);
    const users = this.#options.usedBy(secret.owner_id).get(id) ?? [];
    if (users.length > 0 && !secret.force) {
      const more = users.length > 1 ? ` and ${users.length - 1} more` : '';
      throw new ServiceError(
        'FAILED_PRECONDITION',
        `the secret "${secret.name}" is bound to sandbox ${users[0]}${more}; destroy them, or set force`,
      );
    }
    await this.#options.records.remove(id);
    await this.#options.changed(secret);
  }

  /** NOT_FOUND. */
  find({ owner_id, name }: SecretName): SecretRecord {
    const found = this.#options.records.get(secretId({ owner_id, name }));
    if (found !== undefined) return found;
    const owner = owner_id === '' ? '' : ` of owner ${JSON.stringify(owner_id)}`;
    throw new ServiceError('NOT_FOUND', `secret "${name}"${owner} does not exist`);
  }

  /** UNAVAILABLE if it cannot be decrypted. */
  async valueOf(record: SecretRecord): Promise<string> {
    const key = await this.#key(false);
    if (keyId(key) !== record.key_id) throw otherKey(record);
    try {
      return unseal(key, record, subjectOf(record));
    } catch (error) {
      if (!(error instanceof BrokenSealError)) throw error;
      throw unavailable(`the stored secret "${record.name}" is damaged: it ${error.message}; put it again`);
    }
  }

  /** A new file is only made where no secret needs the one that is missing. */
  async #key(make: boolean) {
    try {
      return await this.#options.key.get(make && this.#options.records.size === 0);
    } catch (error) {
      if (error instanceof NoKeyError) throw unavailable(`secrets cannot be decrypted: ${error.message}`);
      throw error;
    }
  }

  /** Two keys in one state would make the loss of one of them hard to see. */
  #refuseOtherKey(id: string): void {
    for (const record of this.#options.records.values()) if (record.key_id !== id) throw otherKey(record);
  }

  #requireRoom(ownerId: string): void {
    let count = 0;
    for (const { owner_id } of this.#options.records.values()) if (owner_id === ownerId) count++;
    if (count < MAX_SECRETS_PER_OWNER) return;
    throw new ServiceError(
      'RESOURCE_EXHAUSTED',
      `the owner has ${count} secrets, the most is ${MAX_SECRETS_PER_OWNER}`,
    );
  }
}

export function secretId({ owner_id, name }: SecretName): string {
  return `${owner_id}/${name}`;
}

/** Bytes of a secret's value. */
export function valueBytes(record: SecretRecord): number {
  return sealedBytes(record);
}

/** Hosts, parts and header belong to it: whoever could change them in the file could otherwise send the value elsewhere. */
function subjectOf({ owner_id, name, hosts, parts, header }: Pick<SecretRecord, (typeof SUBJECT)[number]>) {
  const subject = [owner_id, name, hosts, parts];
  return header === undefined ? subject : [...subject, header];
}

/** Throws INVALID_ARGUMENT, without the value. */
export function checkValue(value: string, parts: readonly string[]): void {
  if (Buffer.byteLength(value) < LEAST_BYTES) throw invalidArgument('value', `must have at least ${LEAST_BYTES} bytes`);
  if (/\p{Surrogate}/u.test(value)) throw invalidArgument('value', 'must be text');
  if (parts.every((part) => part === 'body')) return;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a line end would begin another header.
  if (/[\0-\x1f\x7f]/.test(value)) {
    throw invalidArgument('value', 'must have no control characters, and no line end, unless parts is only "body"');
  }
}

function shown(record: SecretRecord, used: ReadonlyMap<string, readonly string[]>): Secret {
  const { id, key_id, sealed, ...secret } = record;
  return { ...secret, hosts: [...secret.hosts], parts: [...secret.parts], used_by: [...(used.get(id) ?? [])] };
}

function otherKey({ name }: SecretRecord): ServiceError {
  return unavailable(
    `the secret "${name}" is encrypted under another key than that of the configuration (secrets.key_file)`,
  );
}

function unavailable(message: string): ServiceError {
  return new ServiceError('UNAVAILABLE', message);
}
