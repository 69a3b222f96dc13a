import { newKey } from '../../lib/access/new-key.ts';
import { IdMap } from '../../lib/id-map.ts';
import type { Table } from '../../lib/metadata/metadata.ts';

/** A table of the metadata in memory. */
export function tableOf<R extends { readonly id: string }>(records: readonly R[]): Table<R> {
  const map = new IdMap<R>();
  for (const record of records) map.set(record.id, record);
  return {
    get size() {
      return map.size;
    },
    get: (id) => map.get(id),
    values: () => map.values(),
    newestFirst: (before) => map.newestFirst(before),
    put: async (record) => void map.set(record.id, record),
    remove: async (id) => void map.delete(id),
  };
}

/** A key with the given rights, by default of role owner. */
export function keyFor(rights: Partial<Parameters<typeof newKey>[0]>) {
  const defaults = {
    name: 'k',
    role: 'owner',
    owner_id: '',
    sandbox_id: '',
    scopes: [],
    expires_at: 0,
    created_by: '',
  };
  return newKey({ ...defaults, ...rights } as Parameters<typeof newKey>[0], Date.now());
}
