import type { ByteString } from '../../byte-string.ts';
import { isDirectory } from '../../linux/mode.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import type { Node } from '../nodes/node.ts';
import { type Base, joinPath } from './base.ts';

/**
 * The base directory that is merged below a directory of the sandbox's own, by its name in a directory over `parent`;
 * undefined: none. One that was made where the base had no directory is merged with the one the base has there later.
 */
export function mergedBase(
  base: Base,
  inode: Inode,
  parent: ByteString | undefined,
  name: ByteString,
): ByteString | undefined {
  if (inode.origin !== undefined || !inode.merges || parent === undefined) return inode.origin;
  const path = joinPath(parent, name);
  return isBaseDirectory(base, path) ? path : undefined;
}

/**
 * Whether a directory that is to have a name is merged with what the base comes to have by it. Not when the base has a
 * directory there, which the sandbox removed or renamed: that one stays hidden.
 */
export function mergesAt(workspace: { readonly base: Base }, dir: Node, name: ByteString): boolean {
  return dir.inode?.entries?.get(name) !== WHITEOUT || !hidesDirectory(workspace, dir, name);
}

/** Whether what gets the name takes the place of a base directory. */
export function hidesDirectory({ base }: { readonly base: Base }, dir: Node, name: ByteString): boolean {
  return dir.basePath !== undefined && isBaseDirectory(base, joinPath(dir.basePath, name));
}

export function isBaseDirectory(base: Base, path: ByteString): boolean {
  const stat = base.lstat(path);
  return stat !== undefined && isDirectory(stat.mode);
}
