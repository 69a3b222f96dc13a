import { basename, dirname } from 'node:path';
import { type ByteString, fromLatin1, fromText } from '../byte-string.ts';
import { errorCode, ignoreAbsent } from '../linux/errno.ts';
import { Directory } from './directory.ts';

/** Files of one directory removed in parallel, unless the caller gives another number. */
const BATCH = 32;

/**
 * Removes `path` and everything below it. Missing entries, also ones removed concurrently, are no error. The parent
 * directory of `path` must be the server's own; from there on one name at a time is resolved without following symbolic
 * links, whatever happens to the tree meanwhile. Works at any depth: deep directories are moved up first, so that at
 * most three directories are open. After a crash, call it again. `parallel`: files removed at the same time.
 */
export async function removeTree(path: string, parallel = BATCH): Promise<void> {
  const name = fromText(basename(path));
  const parent = await Directory.open(`${dirname(path)}/.`).catch(ignoreAbsent);
  try {
    const found = await parent?.lstat(name);
    if (parent === undefined || found === undefined) return;
    if (!found.isDirectory()) return await parent.unlink(name).catch(ignoreAbsent);
    if (await wasRemoved(parent, name)) return;
    const top = await entered(parent, name).catch(ignoreAbsent);
    if (top === undefined) return;
    await emptied(top, parallel).finally(() => top.close());
    await parent.removeDirectory(name).catch(ignoreAbsent);
  } finally {
    await parent?.close();
  }
}

/** Like `removeTree`, for everything in `path`, a directory of the server, which is kept. */
export async function emptyTree(path: string): Promise<void> {
  const top = await Directory.open(path);
  await emptied(top, BATCH).finally(() => top.close());
}

async function emptied(top: Directory, parallel: number): Promise<void> {
  let moved = 0;
  const movedName = () => fromLatin1(`.moved-${moved++}`);
  for (let names = await removeFiles(top, parallel); names.length > 0; names = await removeFiles(top, parallel)) {
    for (const name of names) await removeInner(top, name, movedName, parallel);
  }
}

/** Moves the subdirectories of a directory in `top` to `top`, and removes it. */
async function removeInner(
  top: Directory,
  name: ByteString,
  movedName: () => ByteString,
  parallel: number,
): Promise<void> {
  const directory = await entered(top, name).catch(ignoreAbsent);
  if (directory === undefined) return;
  try {
    for (const inner of await removeFiles(directory, parallel)) await moveUp(directory, inner, top, movedName);
  } finally {
    await directory.close();
  }
  await top.removeDirectory(name).catch(ignoreAbsent);
}

/** Removes a directory if it is empty. Returns false, whatever the reason, if it could not. */
function wasRemoved(parent: Directory, name: ByteString): Promise<boolean> {
  return parent.removeDirectory(name).then(
    () => true,
    () => false,
  );
}

/** Removes entries that are not directories; returns the names of the directories. */
async function removeFiles(directory: Directory, parallel: number): Promise<ByteString[]> {
  const directories: ByteString[] = [];
  let files: ByteString[] = [];
  const removeBatch = async () => {
    await Promise.all(files.map((file) => directory.unlink(file).catch(ignoreAbsent)));
    files = [];
  };
  for await (const entry of directory.entries()) {
    const name = fromLatin1(entry.name);
    if (entry.isDirectory()) directories.push(name);
    else if (files.push(name) === parallel) await removeBatch();
  }
  await removeBatch();
  return directories;
}

async function entered(parent: Directory, name: ByteString): Promise<Directory> {
  try {
    return await parent.directory(name);
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw error;
    // Only for a server without root: its own directory has a mode that denies access.
    await parent.unlock(name);
    return await parent.directory(name);
  }
}

async function moveUp(from: Directory, name: ByteString, top: Directory, newName: () => ByteString): Promise<void> {
  for (;;) {
    try {
      return await top.take(from, name, newName()).catch(ignoreAbsent);
    } catch (error) {
      // The name exists already, from a run that a crash ended or by chance in the tree itself.
      if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errorCode(error) ?? '')) throw error;
    }
  }
}
