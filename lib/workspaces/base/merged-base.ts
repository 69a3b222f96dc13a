import { type ByteString, joinPath } from '../../byte-string.ts';
import { isDirectory } from '../../linux/mode.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import type { LayeredNode } from '../nodes/layered-node.ts';
import type { Base } from './base.ts';

/**
 * Returns the base directory that is merged into a directory of the delta, given its name in a directory over `parent`;
 * undefined: none. A directory that was made where the base had none is merged with a directory that the base gets
 * there later.
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
 * Whether a new directory of this name merges with what the base gets at its path later. Not if the base has a
 * directory there now, which the sandbox removed or renamed: that one stays hidden.
 */
export function mergesAt(workspace: { readonly base: Base }, dir: LayeredNode, name: ByteString): boolean {
  return dir.inode?.entries?.get(name) !== WHITEOUT || !hidesDirectory(workspace, dir, name);
}

/** Whether a new entry of this name replaces a base directory. */
export function hidesDirectory({ base }: { readonly base: Base }, dir: LayeredNode, name: ByteString): boolean {
  return dir.basePath !== undefined && isBaseDirectory(base, joinPath(dir.basePath, name));
}

/** Whether the base has a directory at a path. */
export function isBaseDirectory(base: Base, path: ByteString): boolean {
  const stat = base.lstat(path);
  return stat !== undefined && isDirectory(stat.mode);
}
