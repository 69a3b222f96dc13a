import { type ByteString, parentOf, ROOT_PATH } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import type { OwnDirectory } from '../../workspaces/workspaces.ts';

const NONE: ReadonlySet<ByteString> = new Set();
/** Directories examined in one step. */
const ITEMS_PER_STEP = 64;

/**
 * The sandbox's own directories that a commit makes those of the codebase; `own` has each before those in it. `isCommitted`:
 * whether the commit has a path, or one below it. `equal`: see `wholeReplacing`.
 *
 * A directory that took the place of an equal one is no change itself. It is settled with its old path, if that is committed, or
 * has such a directory, is in one or holds one: otherwise both would show the same directory of the codebase. For the same reason
 * one that replaces the codebase's without a change is not settled while another one shows that.
 */
export function* settledDirectories(
  own: readonly OwnDirectory[],
  isCommitted: (path: ByteString) => boolean,
  equal = NONE,
): Steps<ReadonlySet<OwnDirectory>, undefined> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const isSettled = ({ path, origin }: OwnDirectory) =>
    isCommitted(path) || (origin !== undefined && isCommitted(origin));
  const settled = new Set<OwnDirectory>();
  for (const dir of own) {
    if (isSettled(dir)) settled.add(dir);
    if (counter.count()) yield;
  }
  if (settled.size === own.length || (settled.size === 0 && equal.size === 0)) return settled;
  const shownAt = yield* showing(own, counter);
  // Those that are added meanwhile are visited, too.
  for (const { path } of settled) {
    for (const dir of shownAt(path)) settled.add(dir);
    if (counter.count()) yield;
  }
  const byPath = new Map<ByteString, OwnDirectory>();
  for (const dir of own) {
    byPath.set(dir.path, dir);
    if (counter.count()) yield;
  }
  for (const dir of own) {
    if (counter.count()) yield;
    if (!dir.replaces || !shownAt(dir.path).every((other) => settled.has(other))) continue;
    const above = lowestAbove(dir.path, byPath);
    if (above === undefined ? equal.has(dir.path) : settled.has(above)) settled.add(dir);
  }
  return settled;
}

/** Returns a function that returns the renamed directories that were at, below or above the path of one of `own`. */
function* showing(
  own: readonly OwnDirectory[],
  counter: StepCounter,
): Steps<(path: ByteString) => OwnDirectory[], undefined> {
  const atOrBelow = new Map<ByteString, OwnDirectory[]>();
  for (const { path } of own) {
    atOrBelow.set(path, []);
    if (counter.count()) yield;
  }
  const byOrigin = new Map<ByteString, OwnDirectory[]>();
  for (const dir of own) {
    if (counter.count()) yield;
    const { path, origin } = dir;
    if (origin === undefined || origin === path) continue;
    byOrigin.set(origin, [...(byOrigin.get(origin) ?? []), dir]);
    for (let at = origin; at !== ROOT_PATH; at = parentOf(at)) atOrBelow.get(at)?.push(dir);
  }
  return (path) => {
    const found = [...atOrBelow.get(path)!];
    for (let at = parentOf(path); at !== ROOT_PATH; at = parentOf(at)) found.push(...(byOrigin.get(at) ?? []));
    return found;
  };
}

function lowestAbove<T>(path: ByteString, tops: ReadonlyMap<ByteString, T>): T | undefined {
  for (let at = parentOf(path); at !== ROOT_PATH; at = parentOf(at)) if (tops.has(at)) return tops.get(at);
  return undefined;
}
