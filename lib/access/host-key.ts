import { dirname } from 'node:path';
import { makeFolder } from '../metadata/lock.ts';
import { KeyFiles } from './key-files.ts';
import { newKey } from './new-key.ts';

/**
 * Creates an admin key for the server whose metadata is `dbPath`, and returns the key itself. A running server accepts
 * it at once; another one from its next start.
 */
export function createHostKey(dbPath: string, name: string): string {
  makeFolder(dirname(dbPath), 'storage.db_path', 0o711);
  const rights = {
    name,
    role: 'admin',
    owner_id: '',
    sandbox_id: '',
    scopes: [],
    expires_at: 0,
    created_by: '',
  } as const;
  const { record, text } = newKey(rights, Date.now());
  new KeyFiles(dbPath).write(record);
  return text;
}
