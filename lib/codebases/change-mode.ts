import { randomUUID } from 'node:crypto';
import { type ByteString, fromLatin1 } from '../byte-string.ts';
import type { Directory } from '../host-tree/directory.ts';
import { copyToNewFile } from '../host-tree/new-file.ts';
import { timeOf } from '../linux/time.ts';

/**
 * Sets the permission bits of a file or directory; does nothing for other types and if nothing has the name. Can be
 * repeated after a crash. A file with several hard links becomes one of its own, by way of `staged`: a change at one
 * path must not change the others, which it does not tell of.
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
      const copy = fromLatin1(randomUUID());
      await copyToNewFile(staged, copy, handle, { mode, mtime: timeOf(stat.mtimeNs) });
      await directory.take(staged, copy, name);
    } finally {
      await handle.close();
    }
  }
}
