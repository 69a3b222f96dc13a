import { randomUUID } from 'node:crypto';
import { fchmodSync, fstatSync, fsyncSync, futimesSync } from 'node:fs';
import { type ByteString, fromLatin1 } from '../../byte-string.ts';
import type { WritableTree } from '../../host-tree/writable-tree.ts';
import { closeQuietly } from '../../linux/close.ts';
import { errorCode } from '../../linux/errno.ts';
import { hostSeconds, secondsOf, timeOf } from '../../linux/time.ts';

/**
 * Sets the permission bits of a file or directory; does nothing for other types and if nothing has the name. Can be
 * repeated after a crash. A file with several hard links becomes one of its own, by way of `staged`: a change at one
 * path must not change the others, which it does not tell of. On a full disk it changes them nevertheless: a step that
 * failed would be repeated before any other change of the codebase, also before one that makes room.
 */
export function changeMode(tree: WritableTree, path: ByteString, mode: number, staged: WritableTree | undefined): void {
  const stats = tree.find(path);
  if (stats?.isDirectory()) fchmodSync(tree.directory(path), mode);
  else if (stats?.isFile()) {
    const fd = tree.openFile(path);
    try {
      const copy = stats.nlink === 1 || staged === undefined ? undefined : durableCopy(staged, fd, mode);
      if (copy === undefined) fchmodSync(fd, mode);
      else staged!.moveTo(copy, tree, path);
    } finally {
      closeQuietly(fd);
    }
  }
}

/**
 * Returns the name of the copy in `staged`; undefined: the disk is full. Durable before it takes the file's place: the
 * step may be repeated after a power failure, and then the copy must be whole.
 */
function durableCopy(staged: WritableTree, source: number, mode: number): ByteString | undefined {
  const name = fromLatin1(randomUUID());
  try {
    staged.copy(source, name);
    const mtime = hostSeconds(secondsOf(timeOf(fstatSync(source, { bigint: true }).mtimeNs)));
    const fd = staged.openFile(name);
    try {
      futimesSync(fd, mtime, mtime);
      fchmodSync(fd, mode);
      fsyncSync(fd);
    } finally {
      closeQuietly(fd);
    }
    return name;
  } catch (error) {
    if (!['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '')) throw error;
    try {
      staged.unlink(name);
    } catch {
      // Removed with the staging directory.
    }
    return undefined;
  }
}
