import { type ByteString, withSlash } from '../../byte-string.ts';
import type { ChangeSide, OwnDirectory, WorkspaceChange } from '../../workspaces/workspaces.ts';
import { typeOf } from './list-changes.ts';
import { topOf } from './new-directories.ts';

/** A commit in which each conflict is resolved in favour of the codebase. */
export interface Decided {
  /** In the order of the changes. */
  taken: WorkspaceChange[];
  /** Paths at which the sandbox's version is dropped, each with everything below; no path is below another one. */
  givenUp: ByteString[];
}

/**
 * Gives up the changes in conflict and those that depend on them: everything below a directory that is given up, a
 * replacement of a directory with an entry that stays, and the old path of a renamed file or directory whose new path is
 * given up (otherwise its contents would be at neither path). `changes` must be in byte order of their paths.
 */
export function decideForCodebase(changes: readonly WorkspaceChange[], own: readonly OwnDirectory[]): Decided {
  const replaced = new Set(changes.filter(replacesDirectory).map(({ path }) => path));
  const renamed = sorted(own.filter(({ origin }) => origin !== undefined));
  const single = new Set<ByteString>();
  const whole = new Set<ByteString>();
  const waiting = changes.filter(({ conflict }) => conflict);
  const giveUpWhole = (top: ByteString) => {
    if (whole.has(top) || topOf(top, whole) !== undefined) return;
    whole.add(top);
    for (const change of atOrBelow(changes, top)) waiting.push(change);
    for (const { origin } of atOrBelow(renamed, top)) origins.push(origin!);
  };
  const origins: ByteString[] = [];
  const removed = new Map(changes.filter(({ now }) => now === undefined).map((change) => [change.path, change]));
  const staying = new Set<ByteString>();
  for (let change = waiting.pop(); change !== undefined; change = waiting.pop()) {
    const { path, now, base, movedFrom } = change;
    if (single.has(path)) continue;
    single.add(path);
    const old = movedFrom === undefined ? undefined : removed.get(movedFrom);
    if (old !== undefined) waiting.push(old);
    const top = topOf(path, replaced);
    if (top !== undefined) giveUpWhole(top);
    if (replaced.has(path) || (isDirectory(now) && !isDirectory(base))) giveUpWhole(path);
    for (let origin = origins.pop(); origin !== undefined; origin = origins.pop()) giveUpWhole(origin);
  }
  // A removed directory stays for what is given up in it, and others go on to show it.
  const stays = (change: WorkspaceChange) =>
    isRemovedDirectory(change) && !atOrBelow(inConflict, change.path).next().done;
  const inConflict = sorted([...single].map((path) => ({ path })));
  for (const { path } of changes.filter(stays)) {
    single.add(path);
    staying.add(path);
  }
  const taken = changes.filter(({ path }) => !single.has(path));
  const tops = new Set([...single, ...whole]);
  const isTop = (path: ByteString) => topOf(path, whole) === undefined && topOf(path, staying) === undefined;
  return { taken, givenUp: [...tops].filter(isTop).sort(byBytes) };
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
