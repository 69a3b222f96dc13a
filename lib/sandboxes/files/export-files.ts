import { type Member, tar } from '../../archive/tar.ts';
import { type ByteString, ROOT_PATH, sliceOf } from '../../byte-string.ts';
import type { ExportFilesRequest } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { ByteStream } from '../../readable-file.ts';
import type { ArchiveAccess } from '../../services.ts';
import type { FileStatus, OpenedFile } from '../../workspaces/workspace-files.ts';
import { typeOf } from '../changes/list-changes.ts';
import type { SandboxContext } from '../context.ts';
import { directoryPath } from './paths.ts';
import { closeOpened, contentOf } from './read-file.ts';
import { type FileSession, openFiles, withFiles } from './session.ts';

/** Entries requested at once; the file system serves programs in between. */
const PAGE_SIZE = 200;

/**
 * Exports a directory. Each file is one consistent version. Files that vanish meanwhile are omitted, as are files that
 * the caller may see but not read; so are sockets, FIFOs and devices.
 */
export async function exportFiles(
  { sandbox_id, as, path }: ArchiveAccess<ExportFilesRequest>,
  context: SandboxContext,
): Promise<ByteStream> {
  const top = directoryPath('path', path);
  await withFiles(sandbox_id, as, context, (files) => files.call('list', top, false, ROOT_PATH, 1));
  const bytes = async function* () {
    const files = await openFiles(sandbox_id, as, context);
    try {
      await files.flush();
      yield* tar(members(files, top));
    } finally {
      await files.close();
    }
  };
  return { contentType: 'application/x-tar', [Symbol.asyncIterator]: bytes };
}

async function* members(files: FileSession, top: ByteString): AsyncGenerator<Member> {
  const from = top === '' ? 0 : top.length + 1;
  let after = ROOT_PATH;
  for (let more = true; more; ) {
    const page = await files.call('list', top, true, after, PAGE_SIZE);
    for (const entry of page.entries) yield* member(files, entry, sliceOf(entry.path, from));
    after = page.entries.at(-1)?.path ?? ROOT_PATH;
    more = page.more;
  }
}

async function* member(files: FileSession, entry: FileStatus, path: ByteString): AsyncGenerator<Member> {
  const type = typeOf(entry);
  const head = { path, mode: entry.mode & 0o777, mtime: entry.mtime.sec, size: 0, content: nothing };
  if (type === 'TYPE_DIRECTORY') yield { ...head, type: 'directory' };
  if (type === 'TYPE_SYMLINK' && entry.target !== undefined) yield { ...head, type: 'symlink', target: entry.target };
  if (type !== 'TYPE_FILE') return;
  const file = await opened(files, entry.path);
  if (file === undefined) return;
  try {
    const { size, mode, mtime } = file;
    yield {
      path,
      type: 'file',
      mode: mode & 0o777,
      mtime: mtime.sec,
      size,
      content: () => contentOf(files, file),
    };
  } finally {
    await closeOpened(files, file);
  }
}

/** undefined: it has vanished, has another type by now, or may not be read. */
async function opened(files: FileSession, path: ByteString): Promise<OpenedFile | undefined> {
  try {
    return await files.call('open', path);
  } catch (error) {
    const codes = ['NOT_FOUND', 'PERMISSION_DENIED', 'FAILED_PRECONDITION'];
    if (error instanceof ServiceError && codes.includes(error.code)) return undefined;
    throw error;
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
