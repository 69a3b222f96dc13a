import type { Dirent } from 'node:fs';
import { chmod, lstat, readdir, rename, rmdir, unlink } from 'node:fs/promises';

/** Files of one directory removed at once; leaves half of the thread pool to others. */
const BATCH = 32;

/**
 * Removes `path` and all below it; not being there is fine. Follows no symlink and enters no other directory. Works at
 * any depth: what lies deeper is first moved up, so that no path gets longer than two names below `path`. After a
 * crash, call it again. Nothing else may change the tree meanwhile.
 */
export async function removeTree(path: string): Promise<void> {
  const found = await lstat(path).catch(ignoreAbsent);
  if (found === undefined) return;
  if (!found.isDirectory()) return await unlink(path);
  const top = Buffer.from(path);
  let moved = 0;
  const movedName = () => `.moved-${moved++}`;
  for (let directories = await emptyOfFiles(top); directories.length > 0; directories = await emptyOfFiles(top)) {
    for (const name of directories) {
      const directory = under(top, name);
      for (const inner of await emptyOfFiles(directory)) await moveUp(under(directory, inner), top, movedName);
      await rmdir(directory);
    }
  }
  await rmdir(top);
}

/** Removes what is not a directory; returns the names of what is. */
async function emptyOfFiles(directory: Buffer): Promise<string[]> {
  const entries = await list(directory);
  const files = entries.filter((entry) => !entry.isDirectory());
  for (let i = 0; i < files.length; i += BATCH) {
    await Promise.all(files.slice(i, i + BATCH).map((file) => unlink(under(directory, file.name))));
  }
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/** Names are latin1: one char per byte, whatever encoding they are in. */
async function list(directory: Buffer): Promise<Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true, encoding: 'latin1' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    // Only met by a server that is not root: its own directory, closed by its mode.
    await chmod(directory, 0o700);
    return await readdir(directory, { withFileTypes: true, encoding: 'latin1' });
  }
}

async function moveUp(directory: Buffer, top: Buffer, newName: () => string): Promise<void> {
  for (;;) {
    try {
      return await rename(directory, under(top, newName()));
    } catch (error) {
      // A name of this run is already there, from the run that a crash ended or by the tree's own choice.
      if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

function under(directory: Buffer, name: string): Buffer {
  return Buffer.concat([directory, Buffer.from(`/${name}`, 'latin1')]);
}

function ignoreAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
