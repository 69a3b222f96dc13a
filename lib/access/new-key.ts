import type { KeyRecord } from '../metadata/metadata.ts';
import { generateKey, parseKey, storedParts } from './key-format.ts';
import type { Role } from './principal.ts';

interface Rights {
  name: string;
  role: Role;
  owner_id: string;
  sandbox_id: string;
  scopes: readonly string[];
  /** Unix time in seconds; 0: never. */
  expires_at: number;
  created_by: string;
}

/** Creates a key: `text` is the key itself, which must be shown once and not stored. `now`: milliseconds. */
export function newKey(rights: Rights, now: number): { record: KeyRecord; text: string } {
  const { id, text, sha256, mask } = generateKey();
  const created_at = Math.floor(now / 1000);
  return { record: { id, ...rights, created_at, last_used_at: 0, mask, sha256 }, text };
}

/** The record of an admin key that the operator has chosen; undefined: `text` does not have the shape of a key. */
export function fixedAdminKey(text: string, name: string): KeyRecord | undefined {
  const parts = parseKey(text);
  if (parts === undefined) return undefined;
  const nobody = { owner_id: '', sandbox_id: '', scopes: [], created_by: '' };
  return {
    id: parts.id,
    name,
    role: 'admin',
    ...nobody,
    created_at: 0,
    expires_at: 0,
    last_used_at: 0,
    ...storedParts(parts),
  };
}
