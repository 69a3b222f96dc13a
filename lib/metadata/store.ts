import { type Adapter, Low } from 'lowdb';
import { ServiceError } from '../errors.ts';
import type { Log } from '../log.ts';
import { DurableFile, type FileSystem } from './durable-file.ts';
import { createSerializer, DamagedError, emptyState, parseState, type State } from './format.ts';
import { GroupCommit } from './group-commit.ts';
import type { Metadata, Table } from './metadata.ts';

/**
 * The metadata in the file `path`, in a folder that exists; the caller holds the lock on it. A file that is there but
 * not whole is an error of one line and stays as it is: starting empty would lose every sandbox.
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
    (error) => log.error('metadata could not be written; the change was refused', { path, err: error }),
  );
  // Shows at once that the place can be written, and leaves a file that a restart finds.
  await low.write().catch((error) => {
    // What is stored stays as it is: a server must come back on a full disk, so that somebody can make room.
    if (low.data === empty || !['ENOSPC', 'EDQUOT'].includes(error.code)) throw error;
    log.error('the disk of the metadata is full: changes are refused until there is room', { path, err: error });
  });
  return {
    fresh: low.data === empty,
    codebases: tableOf(low.data.codebases, commit),
    sandboxes: tableOf(low.data.sandboxes, commit),
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

function tableOf<R extends { readonly id: string }>(records: Map<string, R>, commit: GroupCommit): Table<R> {
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
    put: (record) => change(record.id, Object.freeze(record)),
    remove: (id) => (records.has(id) ? change(id, undefined) : Promise.resolve()),
  };
}

function place<R>(records: Map<string, R>, id: string, record: R | undefined): void {
  if (record === undefined) records.delete(id);
  else records.set(id, record);
}
