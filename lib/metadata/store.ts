import { type Adapter, Low } from 'lowdb';
import { ServiceError } from '../errors.ts';
import type { IdMap } from '../id-map.ts';
import type { Log } from '../log.ts';
import { DurableFile, type FileSystem } from './durable-file.ts';
import { createSerializer, DamagedError, emptyState, parseState, type State } from './format.ts';
import { GroupCommit } from './group-commit.ts';
import type { Metadata, Table } from './metadata.ts';

/**
 * Opens the metadata in the file `path`, whose directory must exist; the caller must hold the lock on it. A damaged
 * file is an error of one line and is left unchanged: starting with empty metadata would lose every sandbox.
 */
export async function openMetadata(path: string, log: Log, fileSystem?: FileSystem): Promise<Metadata> {
  const file = new DurableFile(path, fileSystem);
  const empty = emptyState();
  const low = new Low<State>(durableAdapter(file), empty);
  try {
    await low.read();
  } catch (error) {
    const reason = error instanceof DamagedError ? error.message : `cannot be read: ${(error as Error).message}`;
    const back = (await file.hasBackup().catch(() => false)) ? `; before its last change it was ${file.backup}` : '';
    throw new Error(`storage.db_path: ${path} ${reason}; it is left as it is${back}`, { cause: error });
  }
  const commit = new GroupCommit(
    () => low.write(),
    (error) => log.error('metadata could not be written, change refused', { path, err: error }),
  );
  // Verifies at once that the file can be written, and creates it for the next start.
  await low.write().catch((error) => {
    // An existing file stays as it is: the server must start on a full disk, so that space can be freed.
    if (low.data === empty || !['ENOSPC', 'EDQUOT'].includes(error.code)) throw error;
    log.error('disk of the metadata is full, changes are refused until space is free', { path, err: error });
  });
  return {
    fresh: low.data === empty,
    codebases: tableOf(low.data.codebases, commit),
    sandboxes: tableOf(low.data.sandboxes, commit),
    keys: tableOf(low.data.keys, commit),
    owners: tableOf(low.data.owners, commit),
    gone: tableOf(low.data.gone, commit),
    secrets: tableOf(low.data.secrets, commit),
    close: () => commit.close(),
  };
}

function durableAdapter(file: DurableFile): Adapter<State> {
  const serialize = createSerializer();
  return {
    read: async () => {
      const content = await file.read();
      if (content !== undefined) return parseState(content.toString('utf8'));
      if (await file.hasBackup()) throw new DamagedError('is missing');
      return null;
    },
    write: (state) => file.replace(serialize(state)),
  };
}

function tableOf<R extends { readonly id: string }>(records: IdMap<R>, commit: GroupCommit): Table<R> {
  const change = (id: string, next: R | undefined) => {
    if (commit.closed) return Promise.reject(new ServiceError('UNAVAILABLE', 'the server is shutting down'));
    const previous = records.get(id);
    place(records, id, next);
    return commit.add(() => place(records, id, previous));
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

function place<R>(records: Map<string, R>, id: string, record: R | undefined): void {
  if (record === undefined) records.delete(id);
  else records.set(id, record);
}
