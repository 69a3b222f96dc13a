import type { Log } from '../../log.ts';
import type { SandboxRecord } from '../../metadata/metadata.ts';
import { boundSecrets } from '../../network/secrets/bindings.ts';
import type { BoundSecret } from '../../network/secrets/bound-secret.ts';
import type { StoredSecrets } from '../../network/secrets/stored-secrets.ts';

/** The secrets of owners, as sandboxes use them. */
export type SecretSource = Pick<StoredSecrets, 'find' | 'valueOf'>;

/** What the proxy needs. Never rejects: a secret that cannot be used has no hosts. */
export async function secretsInForce(
  record: SandboxRecord,
  { secrets, log }: { secrets?: SecretSource | undefined; log: Log },
): Promise<BoundSecret[]> {
  if (secrets === undefined || record.secrets === undefined) return [];
  return boundSecrets(record, secrets, (secret, err) =>
    log.warn('a secret cannot be used, its placeholder is refused', { sandbox_id: record.id, secret, err }),
  );
}
