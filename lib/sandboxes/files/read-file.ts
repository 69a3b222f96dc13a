import { Readable } from 'node:stream';
import type { ByteString } from '../../byte-string.ts';
import type { ReadFileRequest } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { ReadableFile } from '../../readable-file.ts';
import type { FileAccess } from '../../services.ts';
import type { OpenedFile } from '../../workspaces/workspace-files.ts';
import type { SandboxContext } from '../context.ts';
import { DirectReader } from './direct-reader.ts';
import { filePath } from './paths.ts';
import { type FileSession, openFiles } from './session.ts';

const CHUNK = 1 << 20;
/** Bytes of a read that needs no other thread's answer. */
const DIRECT_CHUNK = 1 << 19;

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
    const file = await openFile(files, at);
    return {
      size: file.size,
      etag: file.version,
      modified_at: file.mtime.sec,
      held: ({ start, end }) => (end <= file.data.length ? file.data.subarray(start, end) : undefined),
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

/** What a program has changed in pages that it has mapped is written back first; that is a change like any other. */
export async function openFile(files: FileSession, at: ByteString): Promise<OpenedFile> {
  const file = await files.call('open', at, false);
  if (file && !file.mayBeMapped) return file;
  await files.flush();
  if (file && files.warnings === file.warnings) return file;
  return (await files.call('open', at, true))!;
}

/** Yields the bytes from `start` to `end`, as they were when the file was opened. */
export async function* contentOf(
  files: FileSession,
  file: OpenedFile,
  { start, end }: { start: number; end: number } = { start: 0, end: file.size },
): AsyncGenerator<Uint8Array, void, void> {
  const { data } = file;
  let at = start;
  if (at < data.length) {
    const first = data.subarray(at, Math.min(end, data.length));
    at += first.length;
    yield first;
  }
  if (at < end) yield* restOf(files, file, at, end);
}

/** The next bytes are read while some are sent. */
async function* restOf(
  files: FileSession,
  file: OpenedFile,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array, void, void> {
  const direct = await DirectReader.open(files, file);
  const read = (at: number) => {
    const length = Math.min(direct ? DIRECT_CHUNK : CHUNK, end - at);
    const bytes = direct ? direct.read(at, length) : files.call('read', file.handle, file.version, at, length);
    // Its failure is reported by the next wait.
    bytes.catch(() => undefined);
    return bytes;
  };
  let next = read(start);
  try {
    for (let at = start; at < end; ) {
      const bytes = await next;
      if (bytes.length === 0) throw new ServiceError('ABORTED', 'the file was cut while it was read; try again');
      at += bytes.length;
      if (at < end) next = read(at);
      yield bytes;
    }
  } finally {
    await next.catch(() => undefined);
    await direct?.close();
  }
}

/** Also after a failure of the file system: then there is nothing to close. */
export async function closeOpened(files: FileSession, { handle }: Pick<OpenedFile, 'handle'>): Promise<void> {
  if (handle !== 0) await files.call('close', [handle]).catch(() => undefined);
}
