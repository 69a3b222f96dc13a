import { ServiceError } from '../errors.ts';
import type { IdMap } from '../id-map.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Table } from './metadata.ts';
import type { Change, Kind } from './state.ts';

/** The records of one kind, whose changes are made in memory first. */
export function tableOf<R extends { readonly id: string }>(
  kind: Kind,
  records: IdMap<R>,
  commit: GroupCommit<Change>,
): Table<R> {
  const change = (id: string, next: R | undefined) => {
    if (commit.closed) return Promise.reject(new ServiceError('UNAVAILABLE', 'the server is shutting down'));
    const previous = records.get(id);
    place(records, id, next);
    return commit.add([kind, next ?? id], () => place(records, id, previous));
  };
  return {
    get size() {
      return records.size;
    },
    get: (id) => records.get(id),
    values: () => records.values(),
    newestFirst: (before) => records.newestFirst(before),
    put: (record) => change(record.id, Object.freeze(record)),
    remove: (id) => (records.has(id) ? change(id, undefined) : Promise.resolve()),
  };
}

function place<R>(records: IdMap<R>, id: string, record: R | undefined): void {
  if (record === undefined) records.delete(id);
  else records.set(id, record);
}
