import { type ByteString, joinNames, quote } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import { Directory } from '../host-tree/directory.ts';
import { errorCode } from '../linux/errno.ts';

/** The result of resolving `names`. The caller must close `directory`. */
export interface ResolvedPath {
  directory: Directory;
  /** Directories from the root to the deepest one, both included: one more than the number of resolved names. */
  trail: { readonly identity: string }[];
}

/**
 * Resolves `names` as far as directories exist. Throws FAILED_PRECONDITION if an entry of another type is in the way.
 */
export async function resolvePath(root: string, names: readonly ByteString[]): Promise<ResolvedPath> {
  let directory = await Directory.open(root).catch((error) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw filesLost(error);
  });
  const trail = [directory];
  try {
    for (const name of names) {
      const next = await directory
        .directory(name)
        .catch((error) => absentOrRefused(error, directory, names, trail.length));
      if (next === undefined) break;
      await directory.close();
      directory = next;
      trail.push(next);
    }
  } catch (error) {
    await directory.close();
    throw error;
  }
  return { directory, trail };
}

/** The codebase has a record, but its directory is missing or incomplete. */
export function filesLost(cause: unknown): ServiceError {
  return new ServiceError('DATA_LOSS', 'the files of the codebase are no longer in the storage', [], { cause });
}

async function absentOrRefused(
  error: unknown,
  directory: Directory,
  names: readonly ByteString[],
  depth: number,
): Promise<undefined> {
  if (errorCode(error) === 'ENOENT') return undefined;
  if (errorCode(error) !== 'ENOTDIR') throw error;
  const found = await directory.lstat(names[depth - 1]!);
  const path = quote(joinNames(names.slice(0, depth)));
  const what = found?.isSymbolicLink() ? 'a symbolic link, which is not followed' : 'not a directory';
  throw new ServiceError('FAILED_PRECONDITION', `${path} is ${what}`);
}

/** Like `resolvePath`, for the complete path; undefined if a part of it does not exist. */
export async function resolveAll(root: string, names: readonly ByteString[]): Promise<ResolvedPath | undefined> {
  const resolved = await resolvePath(root, names);
  if (resolved.trail.length === names.length + 1) return resolved;
  await resolved.directory.close();
  return undefined;
}
