import type { ByteString } from '../../byte-string.ts';
import type { ChangeSide, OwnDirectory, WorkspaceChange } from '../../workspaces/workspaces.ts';
import { typeOf } from './list-changes.ts';
import { topOf } from './new-directories.ts';

/** A commit in which each conflict is decided for the version of the codebase. */
export interface Decided {
  /** In the order of the changes. */
  taken: WorkspaceChange[];
  /** Paths whose version of the sandbox is dropped, each with all below it; none lies below another. */
  givenUp: ByteString[];
}

/**
 * Gives up the changes in conflict and those that cannot be made without them: what is below a directory that is given up,
 * what takes the place of a directory of which an entry stays, and the old place of a renamed directory whose new place is
 * given up (else its files would be in neither place). `changes` in byte order of the paths.
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
  for (let change = waiting.pop(); change !== undefined; change = waiting.pop()) {
    const { path, now, base } = change;
    if (single.has(path)) continue;
    single.add(path);
    const top = topOf(path, replaced);
    if (top !== undefined) giveUpWhole(top);
    if (replaced.has(path) || (isDirectory(now) && !isDirectory(base))) giveUpWhole(path);
    for (let origin = origins.pop(); origin !== undefined; origin = origins.pop()) giveUpWhole(origin);
  }
  const taken = changes.filter(({ path }) => !single.has(path));
  const tops = new Set([...single, ...whole]);
  return { taken, givenUp: [...tops].filter((path) => topOf(path, whole) === undefined).sort(byBytes) };
}

/** A file or a symlink where the codebase has a directory. */
function replacesDirectory({ now, base }: WorkspaceChange): boolean {
  return now !== undefined && !isDirectory(now) && isDirectory(base);
}

function isDirectory(side: ChangeSide | undefined): boolean {
  return side !== undefined && typeOf(side) === 'TYPE_DIRECTORY';
}

/** Those of a sorted list whose path is `top` or below it. */
function* atOrBelow<T extends { path: ByteString }>(items: readonly T[], top: ByteString): Generator<T> {
  const at = items[indexOf(items, top)];
  if (at?.path === top) yield at;
  for (let index = indexOf(items, `${top}/`); items[index]?.path.startsWith(`${top}/`); index++) yield items[index]!;
}

/** Of the first whose path is not before `path`. */
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
