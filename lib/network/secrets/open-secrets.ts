import type { Config } from '../../config/schema.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { SecretKey } from './secret-key.ts';
import { type SecretName, StoredSecrets, secretId } from './stored-secrets.ts';

/**
 * The secrets in the metadata. The key is read at its first use: without it the server starts. `changed` puts a secret in
 * force where it is in use.
 */
export function openSecrets(
  { storage, secrets }: Config,
  { secrets: records, sandboxes }: Metadata,
  changed: (secret: SecretName) => Promise<void>,
): StoredSecrets {
  return new StoredSecrets({
    records,
    key: new SecretKey({ file: secrets.keyFile || `${storage.dbPath}.secrets-key`, command: secrets.keyCommand }),
    usedBy: (ownerId) => usersOf(ownerId, sandboxes),
    changed,
    now: Date.now,
  });
}

/** Of one owner; '': of all. */
function usersOf(ownerId: string, sandboxes: Metadata['sandboxes']): Map<string, string[]> {
  const users = new Map<string, string[]>();
  for (const { id, owner_id, secrets = [] } of sandboxes.values()) {
    if (ownerId !== '' && owner_id !== ownerId) continue;
    for (const name of new Set(secrets.map((each) => each.name))) {
      const key = secretId({ owner_id, name });
      const others = users.get(key);
      if (others === undefined) users.set(key, [id]);
      else others.push(id);
    }
  }
  return users;
}
