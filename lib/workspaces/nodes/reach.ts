import type { ByteString } from '../../byte-string.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';

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
export function reaches(top: Inode, room: number): boolean {
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
