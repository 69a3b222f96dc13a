import { type ByteString, joinPath, ROOT_PATH, splitPath } from '../../byte-string.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';

/** Whether the sandbox has no entry of its own at the path or above, and sees the base there. */
export function showsBase(root: Inode, path: ByteString, originOf: (dir: Inode) => ByteString | undefined): boolean {
  let dir = root;
  let dirPath = ROOT_PATH;
  let merged: ByteString | undefined = ROOT_PATH;
  for (const name of splitPath(path)) {
    const entry = dir.requireEntries().get(name);
    if (entry === undefined) return merged === dirPath;
    if (entry === WHITEOUT || !entry.isDirectory) return false;
    dir = entry;
    dirPath = joinPath(dirPath, name);
    merged = mergedBelow(merged, name, entry, originOf);
  }
  return false;
}

/** The base path that the sandbox's own directory at a path is merged with; undefined: none, or it has no directory there. */
export function mergedAt(
  root: Inode,
  path: ByteString,
  originOf: (dir: Inode) => ByteString | undefined,
): ByteString | undefined {
  let dir = root;
  let merged: ByteString | undefined = ROOT_PATH;
  for (const name of splitPath(path)) {
    const entry = dir.requireEntries().get(name);
    if (entry === undefined || entry === WHITEOUT || !entry.isDirectory) return undefined;
    dir = entry;
    merged = mergedBelow(merged, name, entry, originOf);
  }
  return merged;
}

/** The base path that a directory is merged with, in one that is merged with `above`. */
function mergedBelow(
  above: ByteString | undefined,
  name: ByteString,
  dir: Inode,
  originOf: (dir: Inode) => ByteString | undefined,
): ByteString | undefined {
  return originOf(dir) ?? (dir.merges && above !== undefined ? joinPath(above, name) : undefined);
}
