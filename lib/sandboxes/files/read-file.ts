import { Readable } from 'node:stream';
import type { ByteString } from '../../byte-string.ts';
import type { ReadFileRequest } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { ReadableFile } from '../../readable-file.ts';
import type { FileAccess } from '../../services.ts';
import type { OpenedFile } from '../../workspaces/workspace-files.ts';
import type { SandboxContext } from '../context.ts';
import { filePath } from './paths.ts';
import { type FileSession, openFiles } from './session.ts';

const CHUNK = 1 << 20;

/**
 * Opens one version of the file: if the file is replaced, reads continue; if it is written to, they end with ABORTED.
 */
export async function readFile(
  { sandbox_id, as, path }: FileAccess<ReadFileRequest>,
  context: SandboxContext,
): Promise<ReadableFile> {
  const at = filePath('path', path);
  const files = await openFiles(sandbox_id, as, context);
  try {
    const file = (await files.call('open', at, false)) ?? (await openFlushed(files, at));
    return {
      size: file.size,
      etag: file.version,
      modified_at: file.mtime.sec,
      read: (range) => Readable.from(contentOf(files, file, range), { objectMode: false }),
      close: async () => {
        await closeOpened(files, file);
        await files.close();
      },
    };
  } catch (error) {
    await files.close();
    throw error;
  }
}

/** A program may have mapped the file, and changed what it reads there. */
async function openFlushed(files: FileSession, at: ByteString): Promise<OpenedFile> {
  await files.flush();
  return (await files.call('open', at, true))!;
}

/** Yields the bytes from `start` to `end`, as they were when the file was opened. */
export async function* contentOf(
  files: FileSession,
  { data, handle, version, size }: OpenedFile,
  { start, end }: { start: number; end: number } = { start: 0, end: size },
): AsyncGenerator<Uint8Array, void, void> {
  let at = start;
  if (at < data.length) {
    const first = data.subarray(at, Math.min(end, data.length));
    at += first.length;
    yield first;
  }
  while (at < end) {
    const more = await files.call('read', handle, version, at, Math.min(CHUNK, end - at));
    if (more.length === 0) throw new ServiceError('ABORTED', 'the file was cut while it was read; try again');
    at += more.length;
    yield more;
  }
}

/** Also after a failure of the file system: then there is nothing to close. */
export async function closeOpened(files: FileSession, { handle }: Pick<OpenedFile, 'handle'>): Promise<void> {
  if (handle !== 0) await files.call('close', [handle]).catch(() => undefined);
}
