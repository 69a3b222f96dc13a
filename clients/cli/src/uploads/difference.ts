import type { Found, Walked } from 'paddock-sandbox/local';

/**
 * What an upload has sent: `at` is the time before the directory was looked at, in milliseconds since 1970, by the clock
 * of this machine.
 */
export interface Snapshot {
  at: number;
  found: ReadonlyMap<string, Found>;
}

interface Difference {
  /** In lists as `walk` has them: what is new or may be different, and each directory that a change is in. */
  changed: Found[][];
  /** Paths that are gone, without those below. */
  removed: string[];
}

/**
 * A file that was changed this little before it was looked at may have been changed again with the same time: the clocks
 * of file systems tick every some milliseconds, or every one or two seconds (FAT), without a fraction of a second.
 */
const tickMsOf = (timeMs: number): number => (timeMs % 1000 === 0 ? 3000 : 100);

/**
 * The differences of a directory to what was sent. A file is the same if its size, times, mode and inode are, as for git;
 * its time of change, which no program can set, is older than the snapshot. What is in doubt is sent again.
 */
export function differenceOf(now: Walked, before: Snapshot): Difference {
  const changed = new Set<string>();
  const include = (path: string) => {
    changed.add(path);
    // A change inside of it changes its time there, too.
    const above = parentOf(path);
    if (above !== '') changed.add(above);
  };
  for (const found of now.found.values()) if (!isSame(found, before)) include(found.path);
  const removed: string[] = [];
  for (const path of before.found.keys()) {
    const above = parentOf(path);
    if (now.found.has(path) || (above !== '' && now.found.get(above)?.type !== 'directory')) continue;
    removed.push(path);
    if (above !== '') changed.add(above);
  }
  const lists = now.lists.map((list) => list.filter(({ path }) => changed.has(path)));
  return { changed: lists.filter((list) => list.length > 0), removed };
}

const parentOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('/'), 0));

function isSame(now: Found, { at, found }: Snapshot): boolean {
  const before = found.get(now.path);
  if (before?.type !== now.type) return false;
  if (now.mode !== before.mode || now.mtimeMs !== before.mtimeMs) return false;
  if (now.type !== 'file') return now.target === before.target;
  const isOld = before.ctimeMs < at - tickMsOf(before.ctimeMs);
  return isOld && now.size === before.size && now.ctimeMs === before.ctimeMs && now.ino === before.ino;
}
