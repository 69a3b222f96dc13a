import type { Config } from '../../config/schema.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { SecretKey } from './secret-key.ts';
import { StoredSecrets } from './stored-secrets.ts';

/** The secrets in the metadata. The key is read at its first use: without it the server starts. */
export function openSecrets({ storage, secrets }: Config, metadata: Metadata): StoredSecrets {
  return new StoredSecrets({
    records: metadata.secrets,
    key: new SecretKey({ file: secrets.keyFile || `${storage.dbPath}.secrets-key`, command: secrets.keyCommand }),
    usedBy: () => new Map(),
    changed: async () => undefined,
    now: Date.now,
  });
}
