import type { ByteString } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import { Directory } from '../host-tree/directory.ts';
import { errnoOf } from './disk-errors.ts';
import { shown, textOf } from './file-path.ts';

/** Where a walk along `names` ended. Close `directory`. */
export interface Reached {
  directory: Directory;
  /** Directories from the root to it, itself included: how many of the names are there is one less. */
  trail: { readonly identity: string }[];
}

/** The deepest directory there is on the way along `names`. FAILED_PRECONDITION when something else is in the way. */
export async function reach(root: string, names: readonly ByteString[]): Promise<Reached> {
  let directory = await Directory.open(root).catch((error) => {
    if (errnoOf(error) !== 'ENOENT') throw error;
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

/** The codebase has a record, and its directory is missing or not whole. */
export function filesLost(cause: unknown): ServiceError {
  return new ServiceError('DATA_LOSS', 'the files of the codebase are no longer in the storage', [], { cause });
}

async function absentOrRefused(
  error: unknown,
  directory: Directory,
  names: readonly ByteString[],
  depth: number,
): Promise<undefined> {
  if (errnoOf(error) === 'ENOENT') return undefined;
  if (errnoOf(error) !== 'ENOTDIR') throw error;
  const found = await directory.lstat(names[depth - 1] as ByteString);
  const path = shown(textOf(names.slice(0, depth).join('/')));
  const what = found?.isSymbolicLink() ? 'a symbolic link, which is not followed' : 'not a directory';
  throw new ServiceError('FAILED_PRECONDITION', `${path} is ${what}`);
}

/** As `reach`, but all the way; undefined when part of it is not there. */
export async function reachAll(root: string, names: readonly ByteString[]): Promise<Reached | undefined> {
  const reached = await reach(root, names);
  if (reached.trail.length === names.length + 1) return reached;
  await reached.directory.close();
  return undefined;
}
