import type { SandboxSecret, SecretBinding } from '../../contract/messages.ts';
import { invalidArgument, ServiceError } from '../../errors.ts';
import type { SandboxRecord, SecretRecord } from '../../metadata/metadata.ts';
import type { BoundSecret } from './bound-secret.ts';
import { commonHosts, isWithinHosts } from './hosts.ts';
import { newPlaceholder } from './placeholder.ts';
import { type StoredSecrets, valueBytes } from './stored-secrets.ts';

type Store = Pick<StoredSecrets, 'find' | 'valueOf'>;

/** What a new sandbox is bound to, with new placeholders. Throws INVALID_ARGUMENT, and NOT_FOUND for a missing secret. */
export function bindSecrets(
  bindings: readonly SecretBinding[],
  owner_id: string,
  { env, hasNetwork }: { env: Readonly<Record<string, string>>; hasNetwork: boolean },
  store: Pick<Store, 'find'>,
): SandboxSecret[] {
  if (bindings.length > 0 && !hasNetwork) {
    throw invalidArgument(
      'secrets',
      'need a network with mode "allow_list" or "open": without one nothing can be sent',
    );
  }
  const taken = new Set(Object.keys(env));
  return bindings.map((binding, index) => {
    const at = `secrets[${index}]`;
    if (binding.source === 'redacted') return redactedBinding(binding, at);
    requireStored(binding, at);
    const { name, variable, hosts, shape } = binding;
    if (taken.has(variable))
      throw invalidArgument(`${at}.variable`, `names a variable that is set already: ${variable}`);
    taken.add(variable);
    const secret = store.find({ owner_id, name });
    const other = hosts.find((host) => !isWithinHosts(secret.hosts, host));
    if (other !== undefined) {
      throw invalidArgument(`${at}.hosts`, `has ${other}, which is none of the secret's: ${secret.hosts.join(', ')}`);
    }
    return { name, variable, hosts: [...new Set(hosts)], placeholder: placeholderOf(secret, shape) };
  });
}

/** The placeholder is known when the workspace can be read. Throws INVALID_ARGUMENT. */
function redactedBinding({ name, variable, shape, hosts, path, key }: SecretBinding, at: string): SandboxSecret {
  for (const [field, value] of Object.entries({ name, variable, shape })) {
    if (value !== '') throw invalidArgument(`${at}.${field}`, 'must be empty with source "redacted"');
  }
  for (const [field, value] of Object.entries({ path, key, hosts })) {
    if (!value?.length) throw invalidArgument(`${at}.${field}`, 'must not be empty with source "redacted"');
  }
  return { name, variable, hosts: [...new Set(hosts)], placeholder: '', path: path!, key: key! };
}

function requireStored({ name, variable, path, key }: SecretBinding, at: string): void {
  for (const [field, value] of Object.entries({ name, variable })) {
    if (value === '') throw invalidArgument(`${at}.${field}`, 'must not be empty');
  }
  for (const [field, value] of Object.entries({ path, key })) {
    if (value) throw invalidArgument(`${at}.${field}`, 'must be empty without source "redacted"');
  }
}

/** The same secrets, for a fork: placeholders are of one sandbox each. A secret that is gone by now is left out. */
export function rebindSecrets(
  { secrets = [], owner_id }: Pick<SandboxRecord, 'secrets' | 'owner_id'>,
  store: Pick<Store, 'find'>,
): SandboxSecret[] {
  return secrets.flatMap((bound) => {
    if (bound.path) return [bound];
    try {
      return [{ ...bound, placeholder: placeholderOf(store.find({ owner_id, name: bound.name }), '') }];
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'NOT_FOUND') return [];
      throw error;
    }
  });
}

/**
 * What the proxy needs of the stored secrets of a sandbox, as they are now. One that is gone, or that cannot be decrypted, has no
 * hosts: its placeholder is refused everywhere. `failed` gets the reason, which has no value.
 */
export async function boundSecrets(
  { secrets = [], owner_id }: Pick<SandboxRecord, 'secrets' | 'owner_id'>,
  store: Store,
  failed: (name: string, error: unknown) => void,
): Promise<BoundSecret[]> {
  return Promise.all(
    secrets
      .filter(({ path }) => !path)
      .map(async ({ name, placeholder, hosts }) => {
        try {
          const record = store.find({ owner_id, name });
          const usable = hosts.length === 0 ? record.hosts : commonHosts(record.hosts, hosts);
          const parts = record.parts as BoundSecret['in'];
          const { header } = record;
          return { name, placeholder, value: await store.valueOf(record), hosts: usable, in: parts, header };
        } catch (error) {
          failed(name, error);
          return { name, placeholder, value: '', hosts: [], in: [] };
        }
      }),
  );
}

/** The variables of commands. */
export function placeholdersOf({ secrets = [] }: Pick<SandboxRecord, 'secrets'>): Record<string, string> {
  const inVariables = secrets.filter(({ variable }) => variable !== '');
  return Object.fromEntries(inVariables.map(({ variable, placeholder }) => [variable, placeholder]));
}

function placeholderOf(secret: SecretRecord, shape: string): string {
  const length = secret.keep_length ? valueBytes(secret) : undefined;
  return newPlaceholder({ name: secret.name, shape: shape || secret.shape, length });
}
