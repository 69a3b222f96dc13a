import type { Log } from '../../log.ts';
import type { SandboxRecord } from '../../metadata/metadata.ts';
import { boundSecrets } from '../../network/secrets/bindings.ts';
import type { BoundSecret } from '../../network/secrets/bound-secret.ts';
import type { StoredSecrets } from '../../network/secrets/stored-secrets.ts';
import { type RedactedFiles, redactedSecrets } from './redacted-secrets.ts';

/** The secrets of owners, as sandboxes use them. */
export type SecretSource = Pick<StoredSecrets, 'find' | 'valueOf'>;

/** Of the values of one sandbox together: answers are searched for each of them, in many forms. */
const MOST_BYTES = 131_072;

/** What the proxy needs. Never rejects: a secret that cannot be used has no hosts, or is left out. */
export async function secretsInForce(
  record: SandboxRecord,
  { secrets, mount, log }: { secrets?: SecretSource | undefined; mount?: RedactedFiles | undefined; log: Log },
): Promise<BoundSecret[]> {
  if (secrets === undefined || record.secrets === undefined) return [];
  const failed = (secret: string, err: unknown) =>
    log.warn('a secret cannot be used, its placeholder is refused', { sandbox_id: record.id, secret, err });
  const stored = await boundSecrets(record, secrets, failed);
  const all = mount === undefined ? stored : [...stored, ...(await redactedSecrets(record, mount, failed))];
  return bounded(all, failed);
}

/** One that is too much has no hosts. */
function bounded(all: readonly BoundSecret[], failed: (secret: string, err: unknown) => void): BoundSecret[] {
  let left = MOST_BYTES;
  return all.map((each) => {
    const bytes = Buffer.byteLength(each.value);
    left -= bytes;
    if (left >= 0) return each;
    left += bytes;
    failed(each.name, new Error(`the values of a sandbox have at most ${MOST_BYTES} bytes together`));
    return { ...each, value: '', hosts: [], in: [] };
  });
}
