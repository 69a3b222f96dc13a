import type { ByteString } from '../../byte-string.ts';
import { ENAMETOOLONG } from '../../linux/errno.ts';
import { MAX_PATH_BYTES } from '../../path-limits.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
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
  const { inode } = moved;
  if (inode === undefined || inode.reach === 0) return;
  const link = moved.links[0];
  if (link !== undefined && pathBytes(dir, name.length) <= pathBytes(link.parent, link.name.length)) return;
  const room = MAX_PATH_BYTES - pathBytes(dir, name.length) - 1;
  if (inode.reach > room && reaches(inode, room)) throw ENAMETOOLONG;
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

interface Frame {
  inode: Inode;
  room: number;
  entries: Iterator<[ByteString, Inode | typeof WHITEOUT]>;
  /** The longest path so far, by the bounds of examined directories. */
  longest: number;
  /** Bytes between the parent's names and this directory's names. */
  step: number;
}

/**
 * Whether a path below the directory has more than `room` bytes. `reach` is an upper bound that removals do not lower;
 * it is corrected here for each examined directory.
 */
function reaches(top: Inode, room: number): boolean {
  const enter = (inode: Inode, into: number, step: number): Frame => {
    return { inode, room: into, entries: inode.requireEntries().entries(), longest: 0, step };
  };
  const stack = [enter(top, room, 0)];
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const { done, value } = frame.entries.next();
    if (done) {
      frame.inode.reach = frame.longest;
      stack.pop();
      const above = stack.at(-1);
      if (above !== undefined) above.longest = Math.max(above.longest, frame.step + frame.longest);
      continue;
    }
    const [name, entry] = value;
    if (entry === WHITEOUT) continue;
    if (name.length > frame.room) return true;
    const step = name.length + 1;
    if (entry.reach > 0 && entry.reach > frame.room - step) stack.push(enter(entry, frame.room - step, step));
    else frame.longest = Math.max(frame.longest, entry.reach > 0 ? step + entry.reach : name.length);
  }
  return false;
}
