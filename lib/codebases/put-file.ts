import { type ByteString, joinNames, quoteText } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import type { Directory } from '../host-tree/directory.ts';
import { errorCode } from '../linux/errno.ts';
import type { FilePath } from './file-path.ts';
import type { ObserveChange } from './observe-change.ts';
import type { Quota } from './quota.ts';
import type { Received } from './receive.ts';
import { type ResolvedPath, resolvePath } from './resolve-path.ts';
import type { Totals } from './totals.ts';

/**
 * Moves the received file to `path`, replacing a file or symlink, and creates missing parent directories. Returns the
 * parent directory, which the caller must sync and close. A failure leaves the tree unchanged.
 */
export async function putFile(
  root: string,
  path: FilePath,
  received: Pick<Received, 'directory' | 'name' | 'size'>,
  observe: ObserveChange,
  { totals, quota }: { totals: Totals; quota: Quota },
): Promise<Directory> {
  const resolved = await resolvePath(root, path.parents);
  const there = resolved.trail.length - 1;
  try {
    const replaced = there === path.parents.length ? await resolved.directory.lstat(path.name) : undefined;
    if (replaced?.isDirectory()) {
      throw new ServiceError('FAILED_PRECONDITION', `${quoteText(path.text)} is a directory, not a file`);
    }
    const added = path.parents.length - there;
    const bytes = received.size - Number(replaced?.size ?? 0);
    await quota.admit({ bytes, files: replaced === undefined ? 1 : 0, directories: added });
    await observe(appearing(path, there), async () => {
      try {
        for (const name of path.parents.slice(there)) await enterNew(resolved, name);
        await resolved.directory.take(received.directory, received.name, path.name);
      } catch (error) {
        // The first error is reported; an empty directory left behind is harmless.
        await removeNew(resolved, path.parents, there).catch(() => undefined);
        throw error;
      }
      totals.addDirectories(added);
      totals.replace(replaced, await resolved.directory.lstat(path.name));
    });
  } catch (error) {
    await resolved.directory.close();
    throw error;
  }
  return resolved.directory;
}

/** The changed paths: the missing parent directories, then the file. */
function appearing(path: FilePath, there: number): ByteString[] {
  const names = [...path.parents, path.name];
  return names.slice(there).map((_, i) => joinNames(names.slice(0, there + i + 1)));
}

async function enterNew(resolved: ResolvedPath, name: ByteString): Promise<void> {
  const { directory, trail } = resolved;
  await directory.makeDirectory(name).catch((error) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
  const child = await directory.directory(name);
  resolved.directory = child;
  trail.push(child);
  try {
    // The mode given to mkdir is reduced by the server's umask.
    await child.chmod(0o755);
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function removeNew(resolved: ResolvedPath, names: readonly ByteString[], there: number): Promise<void> {
  while (resolved.trail.length - 1 > there) {
    resolved.trail.pop();
    const parent = await resolved.directory.parent(resolved.trail.at(-1) as Directory);
    await resolved.directory.close();
    resolved.directory = parent;
    await parent.removeDirectory(names[resolved.trail.length - 1]!);
  }
}
