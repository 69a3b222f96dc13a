import { type ByteString, baseNameOf, joinPath, parentOf } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { isDirectory } from '../../linux/mode.ts';
import type { Base, BaseStat } from '../base/base.ts';
import { directoryIn } from '../delta/index/directory-in.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import { PathMemo } from '../nodes/path-memo.ts';

/** Names examined in one step. */
const ITEMS_PER_STEP = 16;

/** What a rebase has found. */
interface Rebased {
  readonly base: Base;
  readonly root: Inode;
  /** Whether the base is examined at the path already. */
  has(path: ByteString): boolean;
  /** Whether a directory of the sandbox's own shows the base's at its path. */
  isInPlace(path: ByteString): boolean;
  isShown(path: ByteString): boolean;
}

/** None of its own: the sandbox does not show the base's there either. */
type Own = Inode | undefined;

/**
 * Finds what the sandbox has at the old paths of directories that it renamed and committed (`origins`), and what the base has
 * there. Until then, the renamed directory tells that the sandbox knew the base's entries. What is equal to them is not part of
 * the commit: without a version of them, its next change would be a conflict, and its removal none. Call after all paths of the
 * commit.
 */
export function* knownAt(
  origins: Iterable<ByteString>,
  { base, root, has, isInPlace, isShown }: Rebased,
): Steps<[path: ByteString, base: BaseStat][]> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const known: [ByteString, BaseStat][] = [];
  const directories = new PathMemo<Inode | undefined>(root, directoryIn);
  const waiting: [Own, ByteString][] = [];
  for (const origin of origins) {
    if (counter.count()) yield;
    const own = ownIn(directories.at(parentOf(origin)), baseNameOf(origin));
    if (own !== undefined || !isShown(origin)) waiting.push([own, origin]);
  }
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [own, path] = next;
    if (counter.count()) yield;
    const directory = own?.isDirectory ? own : undefined;
    if (directory !== undefined && isInPlace(path)) {
      for (const [name, below] of directory.requireEntries().found()) {
        if (counter.count()) yield;
        if (below !== WHITEOUT) waiting.push([below, joinPath(path, name)]);
      }
      continue;
    }
    if (has(path) && directory === undefined) continue;
    const stat = base.lstat(path);
    if (stat === undefined) continue;
    if (!has(path)) known.push([path, stat]);
    if (!isDirectory(stat.mode)) continue;
    for (const { name } of yield* base.reading(path)) {
      waiting.push([ownIn(directory, name), joinPath(path, name)]);
      if (counter.count()) yield;
    }
  }
  return known;
}

function ownIn(dir: Inode | undefined, name: ByteString): Own {
  const entry = dir?.entries?.get(name);
  return entry === WHITEOUT ? undefined : entry;
}
