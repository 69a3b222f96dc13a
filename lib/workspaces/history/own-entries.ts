import { type ByteString, baseNameOf, joinPath, parentOf, ROOT_PATH } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { isDirectory } from '../../linux/mode.ts';
import { MAX_PATH_BYTES } from '../../path-limits.ts';
import type { Base, BaseStat } from '../base/base.ts';
import { mergedBase } from '../base/merged-base.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import { PathMemo } from '../nodes/path-memo.ts';
import type { ChangingBase } from '../workspaces.ts';
import { filterOf, hashOf, type PathFilter, type PathHash } from './path-filter.ts';
import { isBelow, pathsByOrigin, renamedDirectories, shownAt } from './renamed-directories.ts';

/** Names examined in one step. */
const ITEMS_PER_STEP = 16;

/** An entry of the delta other than a directory, in a directory that shows one of the base. */
export interface OwnEntry {
  dir: Inode;
  /** Path of `dir`. */
  dirPath: ByteString;
  name: ByteString;
  /** The base path that the name would show. */
  basePath: ByteString;
  entry: Inode | typeof WHITEOUT;
  base: BaseStat | undefined;
}

/** A directory that the sandbox created in place of a base directory, of which it shows nothing. */
export interface ReplacedDirectory {
  path: ByteString;
  inode: Inode;
  base: BaseStat;
}

interface OwnEntries {
  entries: OwnEntry[];
  /** At or above the paths; none is inside another. */
  replaced: Set<ReplacedDirectory>;
  /** Paths at which the sandbox shows the base although a base version is recorded, which no longer applies. */
  shown: ByteString[];
  /**
   * Directories that the sandbox created or gave the mode that the base's has by now. They are none of its own any more, but for
   * what it has in them.
   */
  equal: ByteString[];
}

/** A directory on the way to a path. */
interface Way {
  /** undefined: the delta has no entry here. */
  dir: Inode | undefined;
  path: ByteString;
  /** The base directory that is shown; undefined: none. */
  merged: ByteString | undefined;
  replaced: ReplacedDirectory | undefined;
}

/**
 * Finds the entries of the delta in place of these base paths, in steps; also below renamed directories, except of
 * removed paths, which the sandbox keeps there.
 */
export function* ownEntries(workspace: LayeredWorkspace, { paths, removed }: ChangingBase): Steps<OwnEntries> {
  const { base, delta } = workspace;
  const found: OwnEntries = { entries: [], replaced: new Set(), shown: [], equal: [] };
  const root = delta.table.get(ROOT_ID);
  if (root === undefined) return found;
  const counter = new StepCounter(ITEMS_PER_STEP);
  const ways = new PathMemo<Way>(
    { dir: root, path: ROOT_PATH, merged: ROOT_PATH, replaced: undefined },
    (above, name, path) => wayTo(base, above, name, path),
  );
  const elsewhere: ByteString[] = [];
  for (const path of paths) {
    const way = ways.at(parentOf(path));
    const { replaced } = way.dir?.subdirs ? ways.at(path) : way;
    if (replaced !== undefined) found.replaced.add(replaced);
    const own = way.merged === parentOf(path) ? ownEntry(base, way, path, path) : undefined;
    if (own !== undefined) found.entries.push(own);
    else if (isEqualDirectory(workspace, way, path)) found.equal.push(path);
    else if (delta.table.baseVersions.get(path) !== undefined) {
      if (way.merged !== parentOf(path)) elsewhere.push(path);
      // A directory of the sandbox's own keeps the version that it started from.
      else if (way.dir?.entries?.get(baseNameOf(path)) === undefined) found.shown.push(path);
    }
    if (counter.count()) yield;
  }
  const byOrigin = pathsByOrigin(elsewhere.length === 0 ? [] : yield* renamedDirectories(workspace));
  const kept = new Set(byOrigin.size === 0 ? [] : removed);
  for (const path of byOrigin.size === 0 ? [] : elsewhere) {
    if (kept.has(path) || isBelow(path, kept)) continue;
    for (const at of shownAt(path, byOrigin)) {
      const way = ways.at(parentOf(at));
      const own = way.merged === parentOf(path) ? ownEntry(base, way, at, path) : undefined;
      if (own !== undefined) found.entries.push(own);
    }
    if (counter.count()) yield;
  }
  return found;
}

function wayTo(base: Base, above: Way, name: ByteString, path: ByteString): Way {
  const entry = above.dir?.entries?.get(name);
  const { replaced } = above;
  const below = above.merged === undefined ? undefined : joinPath(above.merged, name);
  if (entry === undefined) return { dir: undefined, path, merged: below, replaced };
  if (entry === WHITEOUT) {
    // A whiteout of a name that the base no longer has hides nothing.
    const merged = below !== undefined && base.lstat(below) === undefined ? below : undefined;
    return { dir: undefined, path, merged, replaced };
  }
  if (!entry.isDirectory) return { dir: undefined, path, merged: undefined, replaced };
  const merged = mergedBase(base, entry, above.merged, name);
  return {
    dir: entry,
    path,
    merged,
    replaced: replaced ?? (below === path ? replacedBy(base, entry, path, merged) : undefined),
  };
}

function replacedBy(
  base: Base,
  inode: Inode,
  path: ByteString,
  merged: ByteString | undefined,
): ReplacedDirectory | undefined {
  if (merged !== undefined || inode.origin !== undefined) return undefined;
  const stat = base.lstat(path);
  return stat !== undefined && isDirectory(stat.mode) ? { path, inode, base: stat } : undefined;
}

function ownEntry(base: Base, way: Way, path: ByteString, basePath: ByteString): OwnEntry | undefined {
  const name = baseNameOf(path);
  const entry = way.dir?.entries?.get(name);
  if (way.dir === undefined || entry === undefined || (entry !== WHITEOUT && entry.isDirectory)) return undefined;
  return { dir: way.dir, dirPath: way.path, name, basePath, entry, base: base.lstat(basePath) };
}

/** Of a directory of the sandbox's own that is merged with the base's; not of one that follows that anyway. */
function isEqualDirectory({ base, delta: { table } }: LayeredWorkspace, way: Way, path: ByteString): boolean {
  const name = baseNameOf(path);
  const entry = way.dir?.entries?.get(name);
  if (entry === undefined || entry === WHITEOUT || !entry.isDirectory) return false;
  if (way.merged !== parentOf(path) || mergedBase(base, entry, way.merged, name) !== path) return false;
  const isOwn = entry.origin === undefined || table.baseVersions.get(path) !== undefined;
  return isOwn && base.lstat(path)?.mode === entry.mode;
}

/** Returns a filter of all base paths, and their directories, for which `ownEntries` may find entries, in steps. */
export function* ownPathFilter(workspace: LayeredWorkspace): Steps<PathFilter> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const hashes: PathHash[] = [];
  for (const path of allOwnPaths(workspace)) {
    hashes.push(hashOf(path));
    if (counter.count()) yield;
  }
  return filterOf(hashes);
}

/** The paths of the filter, some of them repeatedly. */
function* allOwnPaths({ base, delta }: LayeredWorkspace): Generator<ByteString> {
  const root = delta.table.get(ROOT_ID);
  if (root === undefined) return;
  for (const [path] of delta.table.baseVersions.entries()) yield path;
  const waiting: { dir: Inode; merged: ByteString }[] = [{ dir: root, merged: ROOT_PATH }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const [name, entry] of next.dir.requireEntries().found()) {
      const path = joinPath(next.merged, name);
      if (entry === WHITEOUT || !entry.isDirectory) {
        yield path;
        continue;
      }
      // A directory that replaces another is treated as merged: entries that the base gets in it later count, too.
      if (entry.origin === undefined) yield path;
      const merged = entry.origin === undefined ? path : mergedBase(base, entry, next.merged, name);
      // Longer paths come from older servers, and the base has none.
      if (merged !== undefined && merged.length <= MAX_PATH_BYTES) waiting.push({ dir: entry, merged });
    }
  }
}
