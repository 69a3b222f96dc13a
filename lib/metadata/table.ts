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
  moved?: (before: R | undefined, after: R | undefined) => void,
): Table<R> {
  const place = (id: string, record: R | undefined) => {
    const before = records.get(id);
    if (record === undefined) records.delete(id);
    else records.set(id, record);
    moved?.(before, record);
  };
  const change = (id: string, next: R | undefined) => {
    if (commit.closed) return Promise.reject(new ServiceError('UNAVAILABLE', 'the server is shutting down'));
    const previous = records.get(id);
    place(id, next);
    return commit.add([kind, next ?? id], () => place(id, previous));
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
