import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { quoteText } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import { errorCode } from '../linux/errno.ts';
import { missing } from '../not-found.ts';
import type { StoredFile } from '../readable-file.ts';
import type { Checksums } from './checksums.ts';
import type { FilePath } from './file-path.ts';
import { resolveAll } from './resolve-path.ts';

const CHUNK = 256 * 1024;

/**
 * Opens a regular file. Other types are refused before they are opened, because open(2) can block or have side effects.
 * `closed` is called when the descriptor of a returned file is closed.
 */
export async function openFile(
  root: string,
  path: FilePath,
  checksums: Checksums,
  closed: () => void,
): Promise<StoredFile> {
  const handle = await openRegular(root, path);
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) throw notRegular(path, 'not a regular file');
    const checksum = await checksums.of(handle, stats);
    return storedFile(handle, Number(stats.size), checksum, Number(stats.mtimeMs / 1000n), closed);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openRegular(root: string, path: FilePath): Promise<FileHandle> {
  const resolved = await resolveAll(root, path.parents);
  try {
    const found = await resolved?.directory.lstat(path.name);
    if (resolved === undefined || found === undefined) throw absent(path);
    if (found.isSymbolicLink()) throw notRegular(path, 'a symbolic link, which is not followed');
    if (found.isDirectory()) throw notRegular(path, 'a directory');
    if (!found.isFile()) throw notRegular(path, 'not a regular file');
    // NONBLOCK and NOFOLLOW, in case it was replaced by a FIFO or a symlink since.
    return await resolved.directory.open(path.name, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw absent(path);
    if (errorCode(error) === 'ELOOP') throw notRegular(path, 'a symbolic link, which is not followed');
    throw error;
  } finally {
    await resolved?.directory.close();
  }
}

function absent(path: FilePath): ServiceError {
  return missing('file', path.text, `file ${quoteText(path.text)} does not exist`);
}

function notRegular(path: FilePath, what: string): ServiceError {
  return new ServiceError('FAILED_PRECONDITION', `${quoteText(path.text)} is ${what}`);
}

/** Takes ownership of `handle`: it is closed after `close` and the last read in progress. */
function storedFile(
  handle: FileHandle,
  size: number,
  checksum: string,
  modified_at: number,
  closed: () => void,
): StoredFile {
  let holds = 1;
  const release = async () => {
    if (--holds === 0) await handle.close().finally(closed);
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
    // Not from Buffer's shared pool, which a consumer would keep alive as a whole with one small chunk.
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
      // The descriptor must outlive a read in progress: after a close its number could belong to another file.
      reading.then(release).then(
        () => callback(error),
        (closing: Error) => callback(error ?? closing),
      );
    },
  });
}
