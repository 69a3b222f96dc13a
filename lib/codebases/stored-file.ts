import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { ServiceError } from '../errors.ts';
import type { StoredFile } from '../services.ts';
import type { Checksums } from './checksums.ts';
import { errnoOf } from './disk-errors.ts';
import { type FilePath, shown } from './file-path.ts';
import { reachAll } from './reach.ts';

const CHUNK = 256 * 1024;

/** Opens a regular file; anything else is refused unopened, since opening alone can block or have an effect. */
export async function openFile(root: string, path: FilePath, checksums: Checksums): Promise<StoredFile> {
  const handle = await openRegular(root, path);
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) throw notRegular(path, 'not a regular file');
    const checksum = await checksums.of(handle, stats);
    return storedFile(handle, Number(stats.size), checksum, Number(stats.mtimeMs / 1000n));
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openRegular(root: string, path: FilePath): Promise<FileHandle> {
  const reached = await reachAll(root, path.parents);
  try {
    const found = await reached?.directory.lstat(path.name);
    if (reached === undefined || found === undefined) throw absent(path);
    if (found.isSymbolicLink()) throw notRegular(path, 'a symbolic link, which is not followed');
    if (found.isDirectory()) throw notRegular(path, 'a directory');
    if (!found.isFile()) throw notRegular(path, 'not a regular file');
    // NONBLOCK and NOFOLLOW, in case it was swapped for a FIFO or a link since.
    return await reached.directory.open(path.name, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw absent(path);
    if (errnoOf(error) === 'ELOOP') throw notRegular(path, 'a symbolic link, which is not followed');
    throw error;
  } finally {
    await reached?.directory.close();
  }
}

function absent(path: FilePath): ServiceError {
  return new ServiceError('NOT_FOUND', `file ${shown(path.text)} does not exist`);
}

function notRegular(path: FilePath, what: string): ServiceError {
  return new ServiceError('FAILED_PRECONDITION', `${shown(path.text)} is ${what}`);
}

/** Takes over `handle`: it is closed by the last of `close` and the reads under way. */
function storedFile(handle: FileHandle, size: number, checksum: string, modified_at: number): StoredFile {
  let holds = 1;
  const release = async () => {
    if (--holds === 0) await handle.close();
  };
  return {
    size,
    checksum,
    etag: checksum,
    modified_at,
    read({ start, end } = { start: 0, end: size }) {
      if (holds === 0) throw new Error('the file was closed before');
      holds++;
      return readRange(handle, start, Math.min(end, size), release);
    },
    close: release,
  };
}

function readRange(handle: FileHandle, start: number, end: number, release: () => Promise<void>): Readable {
  let position = start;
  let reading: Promise<unknown> = Promise.resolve();
  const next = async (stream: Readable): Promise<void> => {
    const length = Math.min(CHUNK, end - position);
    if (length <= 0) {
      stream.push(null);
      return;
    }
    // Slow: not from the shared pool, which one small chunk kept by a consumer would hold whole.
    const chunk = Buffer.allocUnsafeSlow(length);
    const { bytesRead } = await handle.read(chunk, 0, length, position);
    if (bytesRead === 0) throw new ServiceError('DATA_LOSS', 'the file is shorter than it was');
    position += bytesRead;
    stream.push(chunk.subarray(0, bytesRead));
  };
  return new Readable({
    highWaterMark: CHUNK,
    read() {
      reading = next(this).catch((error: Error) => this.destroy(error));
    },
    destroy(error, callback) {
      // The descriptor must outlive a read under way: closed under it, the number could be another file's.
      reading.then(release).then(
        () => callback(error),
        (closing: Error) => callback(error ?? closing),
      );
    },
  });
}
