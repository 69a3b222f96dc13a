import { type Member, tar } from '../../archive/tar.ts';
import { type ByteString, ROOT_PATH, sliceOf } from '../../byte-string.ts';
import type { ExportFilesRequest } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { ByteStream } from '../../readable-file.ts';
import type { ArchiveAccess } from '../../services.ts';
import type { OpenedFile, Packed, PackedEntry } from '../../workspaces/workspace-files.ts';
import { typeOf } from '../changes/shown-change.ts';
import type { SandboxContext } from '../context.ts';
import { directoryPath } from './paths.ts';
import { closeOpened, contentOf } from './read-file.ts';
import { type FileSession, openFiles, withFiles } from './session.ts';

/** Entries requested at once: some milliseconds of the main thread. */
const PAGE_SIZE = 256;

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
  for await (const { entries, data } of pages(files, top)) {
    for (const entry of entries) yield* member(files, entry, data, sliceOf(entry.path, from));
  }
}

/** The next page is read while one is sent. */
async function* pages(files: FileSession, top: ByteString): AsyncGenerator<Packed> {
  const read = (after: ByteString) => {
    const page = files.call('pack', top, after, PAGE_SIZE);
    // Its failure is reported by the next wait.
    page.catch(() => undefined);
    return page;
  };
  let next = read(ROOT_PATH);
  try {
    for (let more = true; more; ) {
      const page = await next;
      more = page.more;
      if (more) next = read(page.last);
      yield page;
    }
  } finally {
    // The session is closed afterwards.
    await next.catch(() => undefined);
  }
}

async function* member(
  files: FileSession,
  entry: PackedEntry,
  data: Uint8Array,
  path: ByteString,
): AsyncGenerator<Member> {
  const type = typeOf(entry);
  const head = { path, mode: entry.mode & 0o777, mtime: entry.mtime.sec, size: 0, content: nothing };
  if (type === 'TYPE_DIRECTORY') yield { ...head, type: 'directory' };
  if (type === 'TYPE_SYMLINK' && entry.target !== undefined) yield { ...head, type: 'symlink', target: entry.target };
  if (type !== 'TYPE_FILE') return;
  const { at, size } = entry;
  if (at === undefined) yield* largeFile(files, entry.path, path);
  else yield { ...head, type: 'file', size, content: () => [data.subarray(at, at + size)] };
}

async function* largeFile(files: FileSession, at: ByteString, path: ByteString): AsyncGenerator<Member> {
  const file = await opened(files, at);
  if (file === undefined) return;
  try {
    const { size, mode, mtime } = file;
    const content = () => contentOf(files, file);
    yield { path, type: 'file', mode: mode & 0o777, mtime: mtime.sec, size, content };
  } finally {
    await closeOpened(files, file);
  }
}

/** undefined: it has vanished, has another type by now, or may not be read. */
async function opened(files: FileSession, path: ByteString): Promise<OpenedFile | undefined> {
  try {
    return await files.call('open', path, true);
  } catch (error) {
    const codes = ['NOT_FOUND', 'PERMISSION_DENIED', 'FAILED_PRECONDITION'];
    if (error instanceof ServiceError && codes.includes(error.code)) return undefined;
    throw error;
  }
}

function nothing(): Uint8Array[] {
  return [];
}
