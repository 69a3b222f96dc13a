import { type ByteString, joinNames } from '../../byte-string.ts';
import type { Entry } from '../../trees/format/entry.ts';
import type { FilePath } from '../file-path.ts';
import type { Edit } from './edit.ts';
import { DIRECTORY_MODE, newDirectory } from './new-entry.ts';
import { fileIn, reach } from './reach.ts';

/**
 * Puts a file or symlink at the path, in place of one, and makes missing directories. `make` is called with a fresh number:
 * who has the old file open sees that it was replaced. A refusal leaves the edit as it was.
 */
export function putEntry(edit: Edit, path: FilePath, size: number, make: (edit: Edit, ino: number) => Entry): void {
  const { draft, numbers, time } = edit;
  const trail = reach(draft, path.parents);
  const missing = path.parents.slice(trail.length - 1);
  let directory = trail.at(-1)!;
  const replaced = missing.length === 0 ? fileIn(draft, directory, path) : undefined;
  edit.admit({
    bytes: size - (replaced?.size ?? 0),
    files: replaced === undefined ? 1 : 0,
    directories: missing.length,
  });
  for (const name of missing) {
    const attributes = { name, ino: numbers.take(), mode: DIRECTORY_MODE, mtime: time, ctime: time };
    directory = draft.make(directory, newDirectory(attributes));
  }
  draft.set(directory, path.name, replaced, make(edit, numbers.take()));
  edit.paths.push(whole(path));
}

export function whole(path: FilePath): ByteString {
  return joinNames([...path.parents, path.name]);
}
