import { type ByteString, joinPath, parentOf, ROOT_PATH, sliceOf } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { isBaseDirectory, mergedBase } from '../base/merged-base.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { OwnDirectory } from '../workspaces.ts';

/** Inodes examined in one step. */
const ITEMS_PER_STEP = 16;

/** A directory of the delta, and the base directory that it is merged with. */
interface Merged {
  dir: Inode;
  path: ByteString;
  origin: ByteString | undefined;
}

/**
 * Returns the directories of the delta that are not merged with the base at their own path, in steps. `originOf`: those that
 * have an origin are to get this one, and are returned as well. `inMoved`: those that are merged with the base at their own path,
 * but in a directory that is not, are returned as well.
 */
export function* renamedDirectories(
  { base, delta: { table } }: LayeredWorkspace,
  originOf?: (dir: Inode, origin: ByteString) => ByteString,
  inMoved = false,
): Steps<OwnDirectory[], undefined> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const found: OwnDirectory[] = [];
  const root = table.find(ROOT_ID);
  const waiting: Merged[] = root === undefined ? [] : [{ dir: root, path: ROOT_PATH, origin: ROOT_PATH }];
  for (let above = waiting.pop(); above !== undefined; above = waiting.pop()) {
    // A directory may have a million files.
    if (above.dir.subdirs === 0) continue;
    for (const [name, entry] of above.dir.requireEntries().found()) {
      if (counter.count()) yield;
      // An entry of a parent table may be of an older state.
      const dir = entry === WHITEOUT || !entry.isDirectory ? undefined : table.find(entry.id);
      if (dir === undefined) continue;
      const path = joinPath(above.path, name);
      const isGiven = originOf !== undefined && dir.origin !== undefined;
      const origin = isGiven ? originOf(dir, dir.origin!) : mergedBase(base, dir, above.origin, name);
      waiting.push({ dir, path, origin });
      const isListed = path !== origin || isGiven || (inMoved && above.path !== above.origin);
      if (isListed) found.push({ id: dir.id, path, origin, replaces: isBaseDirectory(base, path) });
    }
  }
  return found;
}

/** Returns the paths of renamed directories by the base directory that they show. */
export function pathsByOrigin(renamed: readonly OwnDirectory[]): Map<ByteString, ByteString[]> {
  const byOrigin = new Map<ByteString, ByteString[]>();
  for (const { path, origin } of renamed) {
    const known = origin === undefined ? undefined : byOrigin.get(origin);
    if (known !== undefined) known.push(path);
    else if (origin !== undefined) byOrigin.set(origin, [path]);
  }
  return byOrigin;
}

/** Returns the paths at which renamed directories show a base path. */
export function shownAt(path: ByteString, byOrigin: ReadonlyMap<ByteString, readonly ByteString[]>): Set<ByteString> {
  const shown = new Set<ByteString>();
  for (let origin = parentOf(path); origin !== ''; origin = parentOf(origin)) {
    for (const top of byOrigin.get(origin) ?? []) shown.add(joinPath(top, sliceOf(path, origin.length + 1)));
  }
  return shown;
}

/** Whether a path is below one of `tops`. */
export function isBelow(path: ByteString, tops: ReadonlySet<ByteString>): boolean {
  if (tops.size === 0) return false;
  for (let above = parentOf(path); above !== ''; above = parentOf(above)) if (tops.has(above)) return true;
  return false;
}
