import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { type ByteString, fromLatin1 } from '../byte-string.ts';
import type { Directory } from '../host-tree/directory.ts';
import { copyToNewFile, type NewFileAttributes } from '../host-tree/new-file.ts';
import { errorCode } from '../linux/errno.ts';
import { timeOf } from '../linux/time.ts';

/**
 * Sets the permission bits of a file or directory; does nothing for other types and if nothing has the name. Can be
 * repeated after a crash. A file with several hard links becomes one of its own, by way of `staged`: a change at one
 * path must not change the others, which it does not tell of. On a full disk it changes them nevertheless: a step that
 * failed would be repeated before any other change of the codebase, also before one that makes room.
 */
export async function changeMode(
  directory: Directory,
  name: ByteString,
  mode: number,
  staged: Directory | undefined,
): Promise<void> {
  const stat = await directory.lstat(name);
  if (stat?.isDirectory()) {
    const child = await directory.directory(name);
    await child.chmod(mode).finally(() => child.close());
  } else if (stat?.isFile()) {
    const handle = await directory.openFile(name);
    try {
      if (stat.nlink === 1n || staged === undefined) return await handle.chmod(mode);
      const copy = await durableCopy(staged, handle, { mode, mtime: timeOf(stat.mtimeNs) });
      if (copy === undefined) await handle.chmod(mode);
      else await directory.take(staged, copy, name);
    } finally {
      await handle.close();
    }
  }
}

/**
 * Returns the name of the copy in `staged`; undefined: the disk is full. Durable before it takes the file's place: the
 * step may be repeated after a power failure, and then the copy must be whole.
 */
async function durableCopy(
  staged: Directory,
  source: FileHandle,
  as: NewFileAttributes,
): Promise<ByteString | undefined> {
  const name = fromLatin1(randomUUID());
  try {
    await copyToNewFile(staged, name, source, as);
    const copy = await staged.openFile(name);
    await copy.sync().finally(() => copy.close());
    return name;
  } catch (error) {
    if (!['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '')) throw error;
    await staged.unlink(name).catch(() => undefined);
    return undefined;
  }
}
