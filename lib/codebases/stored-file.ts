import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { quoteText } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import { errorCode } from '../linux/errno.ts';
import { missing } from '../not-found.ts';
import type { StoredFile } from '../readable-file.ts';
import type { Checksums } from './checksums.ts';
import type { FilePath } from './file-path.ts';
import { type FileSource, rangedFile } from './ranged-file.ts';
import { resolveAll } from './resolve-path.ts';

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
    const facts = { size: Number(stats.size), checksum, modified_at: Number(stats.mtimeMs / 1000n) };
    return rangedFile(sourceOf(handle), facts, closed);
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

function sourceOf(handle: FileHandle): FileSource {
  return {
    async read(position, length) {
      // Not from Buffer's shared pool, which a consumer would keep alive as a whole with one small chunk.
      const chunk = Buffer.allocUnsafeSlow(length);
      const { bytesRead } = await handle.read(chunk, 0, length, position);
      if (bytesRead === 0) throw new ServiceError('DATA_LOSS', 'the file is shorter than it was');
      return chunk.subarray(0, bytesRead);
    },
    close: () => handle.close(),
  };
}
