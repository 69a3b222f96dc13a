import type { ByteString } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import type { Directory } from '../host-tree/directory.ts';
import type { Announce } from './announce.ts';
import { errnoOf } from './disk-errors.ts';
import { type FilePath, shown } from './file-path.ts';
import type { Quota } from './quota.ts';
import { type Reached, reach } from './reach.ts';
import type { Received } from './receive.ts';
import type { Totals } from './totals.ts';

/**
 * Moves the received file to `path`, in place of the file or symlink there, making the directories on the way. Returns
 * the directory it is in: sync and close it. After a failure the tree is as it was.
 */
export async function putFile(
  root: string,
  path: FilePath,
  received: Pick<Received, 'directory' | 'name' | 'size'>,
  announce: Announce,
  { totals, quota }: { totals: Totals; quota: Quota },
): Promise<Directory> {
  const reached = await reach(root, path.parents);
  const there = reached.trail.length - 1;
  try {
    const replaced = there === path.parents.length ? await reached.directory.lstat(path.name) : undefined;
    if (replaced?.isDirectory()) {
      throw new ServiceError('FAILED_PRECONDITION', `${shown(path.text)} is a directory, not a file`);
    }
    const added = path.parents.length - there;
    const bytes = received.size - Number(replaced?.size ?? 0);
    await quota.admit({ bytes, files: replaced === undefined ? 1 : 0, directories: added });
    await announce(appearing(path, there), async () => {
      try {
        for (const name of path.parents.slice(there)) await enterNew(reached, name);
        await reached.directory.take(received.directory, received.name, path.name);
      } catch (error) {
        // What went wrong first is what is told; a directory left empty does no harm.
        await removeNew(reached, path.parents, there).catch(() => undefined);
        throw error;
      }
      totals.addDirectories(added);
      totals.replace(replaced, await reached.directory.lstat(path.name));
    });
  } catch (error) {
    await reached.directory.close();
    throw error;
  }
  return reached.directory;
}

/** The paths that change: the file, and before it the directories that are not there yet. */
function appearing(path: FilePath, there: number): ByteString[] {
  const names = [...path.parents, path.name];
  return names.slice(there).map((_, i) => names.slice(0, there + i + 1).join('/'));
}

async function enterNew(reached: Reached, name: ByteString): Promise<void> {
  const { directory, trail } = reached;
  await directory.makeDirectory(name).catch((error) => {
    if (errnoOf(error) !== 'EEXIST') throw error;
  });
  const child = await directory.directory(name);
  reached.directory = child;
  trail.push(child);
  try {
    // mkdir's mode is under the server's umask.
    await child.chmod(0o755);
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function removeNew(reached: Reached, names: readonly ByteString[], there: number): Promise<void> {
  while (reached.trail.length - 1 > there) {
    reached.trail.pop();
    const parent = await reached.directory.parent(reached.trail.at(-1) as Directory);
    await reached.directory.close();
    reached.directory = parent;
    await parent.removeDirectory(names[reached.trail.length - 1] as ByteString);
  }
}
