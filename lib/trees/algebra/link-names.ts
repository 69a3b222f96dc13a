import { type ByteString, joinPath, ROOT_PATH } from '../../byte-string.ts';
import { entriesOf } from '../directory/entries.ts';
import type { Source } from '../directory/source.ts';
import { type Entry, isDirectory } from '../format/entry.ts';

/**
 * The paths of each file with several names, by its inode number. Reads only directories that have such names in them or
 * below them, as their totals say.
 */
export function linkNames(source: Source, tree: Entry | undefined): Map<number, ByteString[]> {
  const names = new Map<number, ByteString[]>();
  const waiting = [{ path: ROOT_PATH, entry: tree }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, entry } = next;
    if (!isDirectory(entry) || entry.totals.linked === 0) continue;
    for (const child of entriesOf(source, entry.key)) {
      const at = joinPath(path, child.name);
      if (isDirectory(child)) waiting.push({ path: at, entry: child });
      else if (child.nlink > 1) {
        const paths = names.get(child.ino);
        if (paths === undefined) names.set(child.ino, [at]);
        else paths.push(at);
      }
    }
  }
  return names;
}
