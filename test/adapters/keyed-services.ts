import { type KeyAccessOptions, openKeyAccess } from '../../lib/access/key-access.ts';
import { newKey } from '../../lib/access/new-key.ts';
import { IdMap } from '../../lib/id-map.ts';
import { NO_LIMITS } from '../../lib/limits/limits.ts';
import { unlimitedOwners } from '../../lib/limits/stored-limits.ts';
import { silentLog } from '../../lib/log.ts';
import type { Metadata, Table } from '../../lib/metadata/metadata.ts';

/** Owners by id. */
type Owned = Readonly<Record<string, string>>;

/** Access by these keys to things of these owners. */
export function keyedAccess(
  keys: readonly ReturnType<typeof keyFor>[],
  { sandboxes = {}, codebases = {} }: { sandboxes?: Owned; codebases?: Owned },
  options: Partial<KeyAccessOptions> = {},
) {
  const owned = (ids: Owned) => tableOf(Object.entries(ids).map(([id, owner_id]) => ({ id, owner_id })));
  const records = tableOf(keys.map(({ record }) => record));
  const metadata = { codebases: owned(codebases), sandboxes: owned(sandboxes), keys: records } as unknown as Metadata;
  let uptime = 0;
  return openKeyAccess({
    metadata,
    dbPath: '/nonexistent/db',
    adminKey: undefined,
    perKey: NO_LIMITS,
    limits: unlimitedOwners(0),
    log: silentLog,
    // So much time passes between two calls that no answer to a wrong key is held back.
    uptime: () => (uptime += 60_000),
    ...options,
  });
}

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
