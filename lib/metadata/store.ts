import * as fs from 'node:fs/promises';
import { type Adapter, Low } from 'lowdb';
import type { Log } from '../log.ts';
import { ChangeLog } from './change-log.ts';
import { Compaction } from './compaction.ts';
import { DurableFile, type FileSystem } from './durable-file.ts';
import { GroupCommit } from './group-commit.ts';
import { type Loaded, loadMetadata } from './load.ts';
import type { Metadata } from './metadata.ts';
import { snapshotPieces } from './snapshot.ts';
import { type Change, copyOf, DamagedError, emptyState, type State } from './state.ts';
import { tableOf } from './table.ts';
import { usedCodebases } from './used-codebases.ts';

/** Bytes of changes that are kept as they are, however small the snapshot is. */
const LEAST_BYTES = 4 << 20;

/**
 * Opens the metadata in the file `path`, whose directory must exist; the caller must hold the lock on it. A damaged
 * file is an error of one line and is left unchanged: starting with empty metadata would lose every sandbox.
 */
export async function openMetadata(
  path: string,
  log: Log,
  { fileSystem = fs, leastBytes = LEAST_BYTES }: { fileSystem?: FileSystem; leastBytes?: number } = {},
): Promise<Metadata> {
  const file = new DurableFile(path, fileSystem);
  const loaded = await load(path, file, fileSystem);
  if (loaded?.torn) log.warn('the end of the metadata log, which a crash cut off, was left out', loaded.torn);
  const changes = new ChangeLog(path, fileSystem, loaded?.last ?? { log: 0, sequence: 0, isEmpty: true });
  const low = new Low<State>(snapshotAdapter(file, changes), loaded?.state ?? emptyState());
  // Not before the first snapshot of this version: what is in the log alone, an older server would lose.
  let hasSnapshot = loaded !== undefined && !loaded.isOld;
  const makeSnapshot = async () => {
    await low.write();
    hasSnapshot = true;
  };
  const write = async (made: readonly Change[]) => {
    if (!hasSnapshot) return makeSnapshot();
    await changes.append(made);
    compaction.look();
  };
  const commit = new GroupCommit<Change>(write, (error) =>
    log.error('metadata could not be written, change refused', { path, err: error }),
  );
  const { data: state } = low;
  const present = loaded ?? { firstLog: 1, snapshotBytes: 0, segments: 0 };
  const compaction = new Compaction({ file, changes, commit, state, fileSystem, log, leastBytes }, present);
  changes.bytes = loaded?.logBytes ?? 0;
  // Verifies at once that the files can be written, and creates them for the next start.
  await write([]).catch((error) => {
    // Existing files stay as they are: the server must start on a full disk, so that space can be freed.
    if (loaded === undefined || !['ENOSPC', 'EDQUOT'].includes(error.code)) throw error;
    log.error('disk of the metadata is full, changes are refused until space is free', { path, err: error });
  });
  return {
    fresh: loaded === undefined,
    ...usedCodebases(state, commit),
    keys: tableOf('keys', state.keys, commit),
    owners: tableOf('owners', state.owners, commit),
    gone: tableOf('gone', state.gone, commit),
    secrets: tableOf('secrets', state.secrets, commit),
    close: async () => {
      await commit.close();
      await compaction.close();
      await changes.close();
    },
  };
}

async function load(path: string, file: DurableFile, fileSystem: FileSystem): Promise<Loaded | undefined> {
  try {
    return await loadMetadata(path, fileSystem);
  } catch (error) {
    const at = (error instanceof DamagedError && error.path) || path;
    const reason = error instanceof DamagedError ? error.message : `cannot be read: ${(error as Error).message}`;
    const back = (await file.hasBackup().catch(() => false))
      ? `; the snapshot before it was ${file.backup}, with the log since then beside it`
      : '';
    throw new Error(`storage.db_path: ${at} ${reason}; it is left as it is${back}`, { cause: error });
  }
}

/** For a state whose changes are not in the log. */
function snapshotAdapter(file: DurableFile, changes: ChangeLog): Adapter<State> {
  return {
    read: async () => null,
    write: async (state) => {
      const copy = copyOf(state);
      const { log, sequence } = await changes.rotate();
      await file.replace(snapshotPieces(copy, { log, sequence }));
    },
  };
}
