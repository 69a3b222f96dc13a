import { stat } from 'node:fs/promises';
import type { Api } from '../api.ts';
import { type ChangeSelection, exportChanges, listChanges } from '../changes.ts';
import type { FileChange } from '../contract/messages.ts';
import { NotFoundError } from '../errors.ts';
import { type Found, isSame, Place } from './place.ts';
import { untar } from './untar.ts';

export interface PullOptions extends ChangeSelection {
  /** Local files that were edited, too, since they were brought in. "keep", the default: they stay; "replace": lost. */
  onConflict?: 'keep' | 'replace' | undefined;
  /**
   * Also changes in `.git`. By default they are left out: git runs programs that hooks and the configuration of a
   * repository name.
   */
  git?: boolean | undefined;
  /** Change nothing, and only report. */
  dryRun?: boolean | undefined;
}

export interface Pulled {
  /** Paths that were written or removed here. */
  applied: string[];
  /** Paths that have the sandbox's version already. */
  same: string[];
  /** Paths that were edited here, too, or cannot be written without following a symlink. They are as they were. */
  conflicts: string[];
  /** Paths in `.git`. */
  skipped: string[];
}

interface Target {
  sandboxId: string;
  codebaseId: string;
}

const IN_GIT = /(^|\/)\.git(\/|$)/i;

/**
 * Applies the changes of a sandbox to a local directory, which its codebase was made from. A path that is not here as
 * it is in the codebase was edited meanwhile: a conflict.
 */
export async function pull(api: Api, target: Target, directory: string, options: PullOptions): Promise<Pulled> {
  if (!(await stat(directory)).isDirectory()) throw new TypeError(`${directory} is not a directory`);
  const { onConflict = 'keep', git = false, dryRun = false, ...selection } = options;
  const pulled: Pulled = { applied: [], same: [], conflicts: [], skipped: [] };
  const changes = new Map<string, FileChange>();
  for (const change of await listChanges(api, target.sandboxId, selection)) {
    if (!git && IN_GIT.test(change.path)) pulled.skipped.push(change.path);
    else changes.set(change.path, change);
  }
  const apply = async (change: FileChange, next: Found) => {
    const place = new Place(directory, change.path);
    const done = await applied(place, next, () => baseOf(api, target, change, options.signal), {
      replace: onConflict === 'replace',
      dryRun,
    });
    pulled[done].push(change.path);
  };
  // Contents first, then removals from the bottom up: a directory is empty when its turn comes.
  const deleted = [...changes.values()].filter(({ kind }) => kind === 'CHANGE_DELETED');
  // A removed directory or file can be in the place of a new file or directory.
  for (const change of deleted.reverse()) await apply(change, undefined);
  if (changes.size > deleted.length) {
    const archive = await exportChanges(api, target.sandboxId, selection, { format: 'tar', whole: false });
    for await (const { path, type, data, target: link, mode } of untar(archive.body as ReadableStream<Uint8Array>)) {
      const change = changes.get(path);
      if (change === undefined || change.kind === 'CHANGE_DELETED') continue;
      if (type === 'file') await apply(change, { type, data, executable: (mode & 0o100) !== 0 });
      else await apply(change, type === 'symlink' ? { type, target: link } : { type });
    }
  }
  for (const list of Object.values(pulled) as string[][]) list.sort();
  return pulled;
}

async function applied(
  place: Place,
  next: Found,
  base: () => Promise<Found>,
  { replace, dryRun }: { replace: boolean; dryRun: boolean },
): Promise<'applied' | 'same' | 'conflicts'> {
  if (!(await place.isBelowDirectories())) return 'conflicts';
  const now = await place.read();
  if (isSame(now, next)) return 'same';
  const edited = !isSame(now, await base());
  // What is not empty is never removed as a whole.
  if (edited && !(replace && now?.type !== 'directory' && now?.type !== 'other')) return 'conflicts';
  if (dryRun) return 'applied';
  if (next === undefined) return (await place.remove()) ? 'applied' : 'conflicts';
  try {
    await place.write(next);
  } catch (error) {
    // A directory here that has files of its own, in the place of a file.
    if (['ENOTEMPTY', 'EEXIST', 'EISDIR'].includes(String((error as { code?: unknown }).code))) return 'conflicts';
    throw error;
  }
  return 'applied';
}

/** The codebase's version. */
async function baseOf(api: Api, { codebaseId }: Target, change: FileChange, signal?: AbortSignal): Promise<Found> {
  if (change.kind === 'CHANGE_ADDED') return undefined;
  const type = change.kind === 'CHANGE_DELETED' ? change.type : change.baseType;
  if (type === 'TYPE_DIRECTORY') return { type: 'directory' };
  if (type === 'TYPE_SYMLINK') return linkOf(api, codebaseId, change.path, signal);
  try {
    const answer = await api.downloadFile({ codebaseId, filePath: change.path }, { signal });
    const data = new Uint8Array(await answer.arrayBuffer());
    return { type: 'file', data, executable: (change.baseMode & 0o100) !== 0 };
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

/** A symlink has no contents to download: lists show its target. */
async function linkOf(api: Api, codebaseId: string, path: string, signal?: AbortSignal): Promise<Found> {
  const parent = path.split('/').slice(0, -1).join('/');
  for (let pageToken = ''; ; ) {
    const page = await api.listFiles({ codebaseId, path: parent, pageToken, pageSize: 1000 }, { signal });
    const found = page.files.find((each) => each.path === path);
    if (found) return found.symlinkTarget === '' ? { type: 'other' } : { type: 'symlink', target: found.symlinkTarget };
    pageToken = page.nextPageToken;
    if (pageToken === '') return undefined;
  }
}
