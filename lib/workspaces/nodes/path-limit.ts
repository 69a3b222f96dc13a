import type { ByteString } from '../../byte-string.ts';
import { ENAMETOOLONG } from '../../linux/errno.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import type { Node } from './node.ts';

/**
 * Bytes of a path from the root of a workspace, as of the paths that the service takes. It bounds the depth, too: what
 * walks up from a node takes at most half as many steps. What a directory shows of the codebase without changes is not
 * counted, so a renamed one may lead to paths of twice the length.
 */
export const MAX_PATH_BYTES = 4096;

/** Throws ENAMETOOLONG when a new name in `dir`, with a path of `below` bytes in it, is further from the root than that. */
export function requireShortPath(dir: Node, name: ByteString, below = 0): void {
  if (pathBytes(dir, name.length + below) > MAX_PATH_BYTES) throw ENAMETOOLONG;
}

/** The same of a name that `moved` is to have, with all that the sandbox has in it, unless that gets no longer. */
export function requireShortPaths(dir: Node, name: ByteString, moved: Node): void {
  requireShortPath(dir, name);
  const { inode } = moved;
  if (inode === undefined || inode.reach === 0) return;
  const link = moved.links[0];
  if (link !== undefined && pathBytes(dir, name.length) <= pathBytes(link.parent, link.name.length)) return;
  const room = MAX_PATH_BYTES - pathBytes(dir, name.length) - 1;
  if (inode.reach > room && reaches(inode, room)) throw ENAMETOOLONG;
}

/** Bytes of the path of what lies `below` bytes below the directory; only so far as to know that it is too long. */
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
  /** The longest path so far, by the bounds of directories that have been looked at. */
  longest: number;
  /** Bytes from the directory above to this one's names. */
  step: number;
}

/**
 * Whether the directory has a path of more than `room` bytes. `reach` only grows while names are given, so it may be too
 * large after some were taken away: it is set right here on the way.
 */
function reaches(top: Inode, room: number): boolean {
  const enter = (inode: Inode, into: number, step: number): Frame => {
    return { inode, room: into, entries: inode.entries!.entries(), longest: 0, step };
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
