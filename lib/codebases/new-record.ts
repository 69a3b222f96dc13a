import { newId } from '../ids.ts';
import type { CodebaseRecord } from '../metadata/metadata.ts';
import type { NewCodebase } from '../services.ts';

/** `now`: Unix time in milliseconds. */
export function newRecord({ name, owner_id, intent }: NewCodebase, now: number): CodebaseRecord {
  return {
    id: newId('cb', now),
    name,
    owner_id,
    created_at: Math.floor(now / 1000),
    file_count: 0,
    total_size: 0,
    status_reason: '',
    contents: { files: 0, bytes: 0, directories: 0, isExact: true },
    ...(intent !== undefined && { intent }),
  };
}
