import type { Log } from '../../log.ts';
import type { SandboxRecord } from '../../metadata/metadata.ts';
import { boundSecrets } from '../../network/secrets/bindings.ts';
import type { BoundSecret } from '../../network/secrets/bound-secret.ts';
import type { StoredSecrets } from '../../network/secrets/stored-secrets.ts';
import { type RedactedFiles, redactedSecrets } from './redacted-secrets.ts';

/** The secrets of owners, as sandboxes use them. */
export type SecretSource = Pick<StoredSecrets, 'find' | 'valueOf'>;

/** What the proxy needs. Never rejects: a secret that cannot be used has no hosts, or is left out. */
export async function secretsInForce(
  record: SandboxRecord,
  { secrets, mount, log }: { secrets?: SecretSource | undefined; mount?: RedactedFiles | undefined; log: Log },
): Promise<BoundSecret[]> {
  if (secrets === undefined || record.secrets === undefined) return [];
  const failed = (secret: string, err: unknown) =>
    log.warn('a secret cannot be used, its placeholder is refused', { sandbox_id: record.id, secret, err });
  const stored = await boundSecrets(record, secrets, failed);
  return mount === undefined ? stored : [...stored, ...(await redactedSecrets(record, mount, failed))];
}
