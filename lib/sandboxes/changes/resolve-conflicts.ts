import { type ByteString, withSlash } from '../../byte-string.ts';
import type { ChangeSide, OwnDirectory, WorkspaceChange } from '../../workspaces/workspaces.ts';
import { topOf } from './new-directories.ts';
import { typeOf } from './shown-change.ts';

/** The changes of a commit after its conflicts were resolved. */
export interface Resolution {
  /** The changes to commit, in byte order of their paths. */
  committed: WorkspaceChange[];
  /** Paths that are reverted to the codebase, each with everything below; no path is below another one. */
  reverted: ByteString[];
}

/**
 * Resolves each conflict in favour of the codebase. Reverts the changes in conflict and those that depend on them:
 * everything below a reverted directory, a replacement of a directory that has reverted entries, and the old path of a
 * renamed file or directory whose new path is reverted (otherwise its contents would be at neither path). `changes` must
 * be in byte order of their paths.
 */
export function resolveForCodebase(changes: readonly WorkspaceChange[], own: readonly OwnDirectory[]): Resolution {
  const replaced = new Set(changes.filter(replacesDirectory).map(({ path }) => path));
  const renamed = sorted(own.filter(({ origin }) => origin !== undefined));
  const paths = new Set<ByteString>();
  const trees = new Set<ByteString>();
  const waiting = changes.filter(({ conflict }) => conflict);
  const revertTree = (top: ByteString) => {
    if (trees.has(top) || topOf(top, trees) !== undefined) return;
    trees.add(top);
    for (const change of atOrBelow(changes, top)) waiting.push(change);
    for (const { origin } of atOrBelow(renamed, top)) origins.push(origin!);
  };
  const origins: ByteString[] = [];
  const removed = new Map(changes.filter(({ now }) => now === undefined).map((change) => [change.path, change]));
  const kept = new Set<ByteString>();
  for (let change = waiting.pop(); change !== undefined; change = waiting.pop()) {
    const { path, now, base, movedFrom } = change;
    if (paths.has(path)) continue;
    paths.add(path);
    const old = movedFrom === undefined ? undefined : removed.get(movedFrom);
    if (old !== undefined) waiting.push(old);
    const top = topOf(path, replaced);
    if (top !== undefined) revertTree(top);
    if (replaced.has(path) || (isDirectory(now) && !isDirectory(base))) revertTree(path);
    for (let origin = origins.pop(); origin !== undefined; origin = origins.pop()) revertTree(origin);
  }
  // A directory is not removed if entries in it are reverted.
  const isKept = (change: WorkspaceChange) =>
    isRemovedDirectory(change) && !atOrBelow(inConflict, change.path).next().done;
  const inConflict = sorted([...paths].map((path) => ({ path })));
  for (const { path } of changes.filter(isKept)) {
    paths.add(path);
    kept.add(path);
  }
  const committed = changes.filter(({ path }) => !paths.has(path));
  const tops = new Set([...paths, ...trees]);
  const isTop = (path: ByteString) => topOf(path, trees) === undefined && topOf(path, kept) === undefined;
  return { committed, reverted: [...tops].filter(isTop).sort(byBytes) };
}

function isRemovedDirectory({ now, base }: WorkspaceChange): boolean {
  return now === undefined && isDirectory(base);
}

/** Whether a file or symlink replaces a directory of the codebase. */
function replacesDirectory({ now, base }: WorkspaceChange): boolean {
  return now !== undefined && !isDirectory(now) && isDirectory(base);
}

function isDirectory(side: ChangeSide | undefined): boolean {
  return side !== undefined && typeOf(side) === 'TYPE_DIRECTORY';
}

/** The items of a sorted list whose path is `top` or below it. */
function* atOrBelow<T extends { path: ByteString }>(items: readonly T[], top: ByteString): Generator<T> {
  const at = items[indexOf(items, top)];
  if (at?.path === top) yield at;
  const below = withSlash(top);
  for (let index = indexOf(items, below); items[index]?.path.startsWith(below); index++) yield items[index]!;
}

/** Index of the first item whose path is not before `path`. */
function indexOf(items: readonly { path: ByteString }[], path: ByteString): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle]!.path < path) low = middle + 1;
    else high = middle;
  }
  return low;
}

function sorted<T extends { path: ByteString }>(items: T[]): T[] {
  return items.sort((a, b) => byBytes(a.path, b.path));
}

function byBytes(a: ByteString, b: ByteString): number {
  return a < b ? -1 : Number(a > b);
}
