import type { ByteString } from '../../byte-string.ts';
import { ENAMETOOLONG } from '../../linux/errno.ts';
import { MAX_PATH_BYTES } from '../../path-limits.ts';
import type { Node } from './node.ts';

/**
 * Throws ENAMETOOLONG if the path of a new name in `dir`, plus `below` bytes below it, exceeds MAX_PATH_BYTES, which also
 * bounds the depth: a walk up from a node takes at most half as many steps. Entries of the base that a directory shows
 * unchanged are not counted, so paths below a renamed directory can have twice this length.
 */
export function requireShortPath(dir: Node, name: ByteString, below = 0): void {
  if (pathBytes(dir, name.length + below) > MAX_PATH_BYTES) throw ENAMETOOLONG;
}

/**
 * Throws ENAMETOOLONG if a new name for `moved` would make a path below it in the delta too long, unless no path gets
 * longer.
 */
export function requireShortPaths(dir: Node, name: ByteString, moved: Node): void {
  requireShortPath(dir, name);
  const link = moved.links[0];
  if (link !== undefined && pathBytes(dir, name.length) <= pathBytes(link.parent, link.name.length)) return;
  const room = MAX_PATH_BYTES - pathBytes(dir, name.length) - 1;
  if (moved.reachesBelow(Math.max(0, room))) throw ENAMETOOLONG;
}

/**
 * Length in bytes of the path of an entry `below` bytes below the directory; counts only until it exceeds the limit.
 */
function pathBytes(dir: Node, below = 0): number {
  let bytes = below;
  for (let link = dir.links[0]; link !== undefined && bytes <= MAX_PATH_BYTES; link = link.parent.links[0]) {
    bytes += link.name.length + 1;
  }
  return bytes;
}
