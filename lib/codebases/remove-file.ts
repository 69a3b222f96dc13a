import { type ByteString, joinNames, quoteText } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import type { Directory } from '../host-tree/directory.ts';
import { errorCode } from '../linux/errno.ts';
import { missing } from '../not-found.ts';
import { notSynced } from './disk-errors.ts';
import type { FilePath } from './file-path.ts';
import type { ObserveChange } from './observe-change.ts';
import { type ResolvedPath, resolveAll } from './resolve-path.ts';
import type { Totals } from './totals.ts';

/**
 * Removes one entry that is not a directory, and the parent directories that become empty, since uploads created them
 * implicitly. Durable when it resolves.
 */
export async function removeFile(root: string, path: FilePath, observe: ObserveChange, totals: Totals): Promise<void> {
  const resolved = await resolveAll(root, path.parents);
  const open: Directory[] = resolved === undefined ? [] : [resolved.directory];
  try {
    const found = await resolved?.directory.lstat(path.name);
    if (resolved === undefined || found === undefined) {
      throw missing('file', path.text, `file ${quoteText(path.text)} does not exist`);
    }
    if (found.isDirectory()) {
      throw new ServiceError('FAILED_PRECONDITION', `${quoteText(path.text)} is a directory, not a file`);
    }
    await openEmptied(resolved, open);
    const change = async () => {
      await resolved.directory.unlink(path.name);
      totals.replace(found, undefined);
      const left = await removeEmptied(open, path.parents, totals);
      await left.sync().catch(notSynced(`${quoteText(path.text)} is removed`));
    };
    const gone = vanishing(path, open.length);
    await observe(gone, change, { removed: gone });
  } finally {
    await Promise.all(open.map((directory) => directory.close()));
  }
}

/** Appends to `open`, innermost first, the parent directories that contain nothing but the entries to be removed. */
async function openEmptied({ trail }: ResolvedPath, open: Directory[]): Promise<void> {
  for (let depth = trail.length - 1; depth > 0; depth--) {
    const directory = open.at(-1) as Directory;
    if (await directory.hasMoreThanOne()) return;
    open.push(await directory.parent(trail[depth - 1] as Directory));
  }
}

function vanishing(path: FilePath, levels: number): ByteString[] {
  const names = [...path.parents, path.name];
  return Array.from({ length: levels }, (_, up) => joinNames(names.slice(0, names.length - up)));
}

/** Returns the innermost directory that is kept. */
async function removeEmptied(
  open: readonly Directory[],
  parents: readonly ByteString[],
  totals: Totals,
): Promise<Directory> {
  for (let up = 1; up < open.length; up++) {
    try {
      await (open[up] as Directory).removeDirectory(parents[parents.length - up]!);
      totals.addDirectories(-1);
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errorCode(error) ?? '')) throw error;
      return open[up - 1] as Directory;
    }
  }
  return open.at(-1) as Directory;
}
