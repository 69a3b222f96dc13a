import type { Api } from '../api.ts';
import type { FileChange } from '../contract/messages.ts';
import { NotFoundError } from '../errors.ts';
import { type Found, versionOf } from './found.ts';

export interface Origin {
  api: Api;
  codebaseId: string;
  signal: AbortSignal | undefined;
}

/** The codebase's version of a changed path. */
export async function baseOf(origin: Origin, change: FileChange): Promise<Found> {
  if (change.kind === 'CHANGE_ADDED') return undefined;
  const type = change.kind === 'CHANGE_DELETED' ? change.type : change.baseType;
  if (type === 'TYPE_DIRECTORY') return { type: 'directory' };
  if (type === 'TYPE_SYMLINK') return linkOf(origin, change.path);
  const { api, codebaseId, signal } = origin;
  try {
    const { body } = await api.downloadFile({ codebaseId, filePath: change.path }, { signal });
    const version = await versionOf(piecesOf(body as ReadableStream<Uint8Array> | null));
    return { type: 'file', version, executable: (change.baseMode & 0o100) !== 0 };
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

async function* piecesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array, void, void> {
  const reader = body?.getReader();
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done) return;
    yield value as Uint8Array;
  }
}

/** A symlink has no contents to download: lists show its target. */
async function linkOf({ api, codebaseId, signal }: Origin, path: string): Promise<Found> {
  const parent = path.split('/').slice(0, -1).join('/');
  for (let pageToken = ''; ; ) {
    const page = await api.listFiles({ codebaseId, path: parent, pageToken, pageSize: 1000 }, { signal });
    const found = page.files.find((each) => each.path === path);
    if (found) return found.symlinkTarget === '' ? { type: 'other' } : { type: 'symlink', target: found.symlinkTarget };
    pageToken = page.nextPageToken;
    if (pageToken === '') return undefined;
  }
}
