import type { SandboxRecord } from '../../metadata/metadata.ts';
import type { BoundSecret } from '../../network/secrets/bound-secret.ts';
import { checkValue } from '../../network/secrets/stored-secrets.ts';
import type { WorkspaceCalls } from '../../workspaces/calls.ts';
import { filePath } from '../files/paths.ts';

/** The files of an attached workspace. */
export type RedactedFiles = Pick<WorkspaceCalls, 'files'>;

/**
 * What the proxy needs of values of redacted files, as they are now. A value that is not there, or could not be that of a
 * stored secret, is left out: its placeholder stays. Values that are equal have one placeholder, for the hosts of all of
 * them. Never rejects.
 */
export async function redactedSecrets(
  { id, secrets = [] }: Pick<SandboxRecord, 'id' | 'secrets'>,
  mount: RedactedFiles,
  failed: (name: string, error: unknown) => void,
): Promise<BoundSecret[]> {
  const byPlaceholder = new Map<string, BoundSecret>();
  for (const { path = '', key, hosts } of secrets) {
    if (path === '') continue;
    const name = `${path}: ${key}`;
    try {
      const redaction = await mount.files(id, 'owner', 'redaction', filePath('path', path), false);
      const found = redaction?.replaced.find((each) => each.key === key);
      if (found === undefined) throw new Error('no rule redacts the file, or it has no such key');
      const { placeholder, value } = found;
      // The proxy finds a value in answers by a search, and puts it into headers.
      checkValue(value, ['header']);
      const known = byPlaceholder.get(placeholder)?.hosts ?? [];
      byPlaceholder.set(placeholder, { name, placeholder, value, hosts: [...known, ...hosts], in: ['header'] });
    } catch (error) {
      failed(name, error);
    }
  }
  return [...byPlaceholder.values()];
}
