import { type ByteString, joinNames, quote, quoteText } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import { missing } from '../../not-found.ts';
import { childOf } from '../../trees/directory/find-entry.ts';
import type { Source } from '../../trees/directory/source.ts';
import { type DirectoryEntry, type Entry, isDirectory, TYPE } from '../../trees/format/entry.ts';
import type { FilePath } from '../file-path.ts';
import { type Draft, DraftDirectory, isDirectoryNode } from './draft.ts';

/**
 * The directories at the names, as far as there are, the root first. Throws FAILED_PRECONDITION if something else is in the
 * way: a symbolic link is not followed.
 */
export function reach(draft: Draft, names: readonly ByteString[]): DraftDirectory[] {
  const trail = [draft.root];
  for (const name of names) {
    const next = draft.enter(trail.at(-1)!, name);
    if (next === undefined) break;
    if (!(next instanceof DraftDirectory)) throw inTheWay(names.slice(0, trail.length), next);
    trail.push(next);
  }
  return trail;
}

/** What has the name in a directory that `reach` found; throws FAILED_PRECONDITION for a directory. */
export function fileIn(draft: Draft, directory: DraftDirectory, path: FilePath): Entry | undefined {
  const node = draft.get(directory, path.name);
  if (isDirectoryNode(node)) throw isNoFile(path, 'a directory, not a file');
  return node;
}

/** The directory at the names; undefined: there is none. Throws FAILED_PRECONDITION as `reach` does. */
export function directoryAt(
  source: Source,
  root: DirectoryEntry,
  names: readonly ByteString[],
): DirectoryEntry | undefined {
  let directory = root;
  for (const [index, name] of names.entries()) {
    const next = childOf(source, directory, name);
    if (next === undefined) return undefined;
    if (!isDirectory(next)) throw inTheWay(names.slice(0, index + 1), next);
    directory = next;
  }
  return directory;
}

/** The directory of a request. `path`: as the caller gave it. Throws NOT_FOUND. */
export function requireDirectory(
  source: Source,
  root: DirectoryEntry,
  names: readonly ByteString[],
  path: string,
): DirectoryEntry {
  const directory = directoryAt(source, root, names);
  if (directory === undefined)
    throw missing('file', path, `directory ${quoteText(path)} does not exist in the codebase`);
  return directory;
}

/** The file at a path. Throws NOT_FOUND, and FAILED_PRECONDITION for what is no file. */
export function requireFile(source: Source, root: DirectoryEntry, path: FilePath): Entry {
  const found = childOf(source, directoryAt(source, root, path.parents), path.name);
  if (found === undefined) throw absent(path);
  if (found.type === TYPE.symlink) throw isNoFile(path, 'a symbolic link, which is not followed');
  if (isDirectory(found)) throw isNoFile(path, 'a directory');
  return found;
}

export function absent(path: FilePath): ServiceError {
  return missing('file', path.text, `file ${quoteText(path.text)} does not exist`);
}

function isNoFile(path: FilePath, what: string): ServiceError {
  return new ServiceError('FAILED_PRECONDITION', `${quoteText(path.text)} is ${what}`);
}

function inTheWay(names: readonly ByteString[], entry: Entry): ServiceError {
  const what = entry.type === TYPE.symlink ? 'a symbolic link, which is not followed' : 'not a directory';
  return new ServiceError('FAILED_PRECONDITION', `${quote(joinNames(names))} is ${what}`);
}
