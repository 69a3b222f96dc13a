import * as fs from 'node:fs/promises';
import { errorCode } from '../linux/errno.ts';
import { loadMetadata } from '../metadata/load.ts';
import { readSnapshot } from '../metadata/snapshot.ts';
import { DamagedError, type State } from '../metadata/state.ts';
import { type Report, reasonOf } from './report.ts';

const OWNER = 'all codebases and sandboxes';

/**
 * Reads the metadata in the file `path`, with its log; the snapshot that is its backup if only that is intact; undefined
 * if neither is.
 */
export async function readMetadata(path: string, report: Report): Promise<State | undefined> {
  const backup = `${path}.bak`;
  const before = await attempt(backup, report, async () => (await readSnapshot(backup, fs)).state);
  const state = await attempt(path, report, async () => {
    const loaded = await loadMetadata(path, fs);
    const torn = loaded?.torn;
    if (torn)
      report.note(`${torn.path} ends at byte ${torn.offset} in a change that was not acknowledged: a crash cut it`);
    return loaded?.state ?? 'absent';
  });
  if (state === 'absent') report.damage('the metadata is missing', path, OWNER);
  if (typeof state === 'object') return state;
  if (typeof before !== 'object') {
    report.note('without metadata nothing else can be checked');
    return undefined;
  }
  report.note(`the records of codebases and sandboxes are those of the backup ${backup}, without the changes since it`);
  return before;
}

async function attempt(
  path: string,
  report: Report,
  read: () => Promise<State | 'absent'>,
): Promise<State | 'absent' | undefined> {
  try {
    return await read();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'absent';
    const isDamage = error instanceof DamagedError;
    const what = isDamage ? error.message : `cannot be read: ${reasonOf(error)}`;
    report.damage(`the metadata ${what}`, (isDamage && error.path) || path, OWNER);
    return undefined;
  }
}
