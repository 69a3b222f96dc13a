import type { FileChange } from '../../../../lib/contract/messages.ts';
import { READ, VIEW } from '../../../../lib/permissions/index.ts';
import { CANARY } from './canary.ts';
import { UNREADABLE } from './doors.ts';
import type { Judged } from './known.ts';
import { levelAt } from './rules.ts';
import {
  contentOf,
  difference,
  differenceShown,
  isAtOrBelow,
  isDirectory,
  isFile,
  isSymlink,
  parentOf,
  same,
  shown,
  type Tree,
  upwards,
} from './tree.ts';

export class Violation extends Error {}

export function fail(what: string): never {
  throw new Violation(what);
}

export function requireSame(what: string, seen: Tree, expected: Tree): void {
  if (!same(seen, expected)) fail(`${what}: ${differenceShown(seen, expected)}`);
}

export function refuseCanary(what: string, tree: Iterable<readonly [string, string]>): void {
  for (const [path, entry] of tree) {
    if (path.includes(CANARY) || entry.includes(CANARY)) fail(`${what}: something outside of the codebase at ${path}`);
  }
}

/**
 * What another sandbox, or an upload, does to one that took no part: what it changed stays as it is, what it did not
 * change is the codebase's, and nothing is lost. Where it changed something above, both may be right.
 */
export function checkBystander(known: Judged, before: Tree, after: Tree, baseBefore: Tree, baseAfter: Tree): void {
  const changed = difference(baseBefore, baseAfter);
  const what = `a sandbox that took no part`;
  for (const path of new Set([...before.keys(), ...after.keys(), ...changed])) {
    const [was, is] = [before.get(path), after.get(path)];
    const [baseWas, baseIs] = [baseBefore.get(path), baseAfter.get(path)];
    const touched = [...upwards(path)].some((at) => known.touched.has(at));
    if (!touched) {
      // A directory in which it had something stays.
      if (is === was && isDirectory(is) && [...known.touched].some((each) => isAtOrBelow(each, path))) continue;
      if (is !== baseIs)
        fail(`${what} has ${shown(is)} at ${path}, which it never changed: the codebase has ${shown(baseIs)}`);
      continue;
    }
    if (changed.has(path) && was === baseWas && is !== baseIs && !mayHide(known, path, before, baseBefore, baseAfter))
      fail(`${what} has ${shown(is)} at ${path}, where it had no change: the codebase has ${shown(baseIs)}`);
    if (is === was || (changed.has(path) && was === baseWas && is === baseIs)) continue;
    // Below a directory that it renamed: what the codebase has at the old place.
    const moved = [...changed].some((origin) => nameOf(origin) === nameOf(path) && is === baseAfter.get(origin));
    const originOf = (entry: string | undefined) => [...changed].some((origin) => entry === baseBefore.get(origin));
    if (is !== undefined && moved && (was === undefined || originOf(was))) continue;
    if (isDirectory(was) && (is === undefined || isDirectory(is)) && originOf(was)) continue;
    // What the rules hide in the codebase is not kept when it goes there.
    const hidden = [...changed].some((at) => was === baseBefore.get(at) && levelAt(known.rules, at).level < READ);
    if (is === undefined && hidden) continue;
    if (was !== baseWas && was !== undefined) fail(`${what} lost ${shown(was)} at ${path}: it has ${shown(is)}`);
    if (was === undefined && baseWas !== undefined) fail(`${what} has ${shown(is)} again at ${path}, which it removed`);
    if (is === undefined && isSymlink(was) && originOf(was)) continue;
    fail(`${what} has ${shown(is)} instead of ${shown(was)} at ${path}`);
  }
}

/**
 * Whether a path at which the sandbox had no change may not show what came to the codebase: a directory on the way is
 * another one than the codebase's, with changes in it, or is none, or the path is a directory that stays for what the sandbox
 * changed in it.
 */
function mayHide(known: Judged, path: string, before: Tree, baseBefore: Tree, baseAfter: Tree): boolean {
  const above = [...upwards(parentOf(path))];
  const changed = difference(before, baseBefore);
  const hasChange = (top: string) => [...changed].some((at) => at !== path && isAtOrBelow(at, top));
  if (above.some((at) => known.removed.has(at) && hasChange(at))) return true;
  if (above.some((at) => before.has(at) && !isDirectory(before.get(at)))) return true;
  if (!isDirectory(before.get(path))) return false;
  return !isDirectory(baseAfter.get(path)) && hasChange(path);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/**
 * What came to the codebase since, in a directory that the sandbox has another one in the place of: the sandbox does not
 * show it, and did not remove it, and a commit leaves it.
 */
export function cameLater(known: Judged, tree: Tree, base: Tree, changes: readonly FileChange[]): Map<string, string> {
  const later = new Map<string, string>();
  const listed = new Set(changes.map(({ path }) => path));
  for (const [path, entry] of base) {
    if (tree.has(path) || listed.has(path)) continue;
    // A directory with such in it, too.
    const isForeign = (at: string) => isAtOrBelow(path, at) || (isDirectory(entry) && isAtOrBelow(at, path));
    if (![...known.foreign].some(isForeign)) continue;
    const parents = [...upwards(parentOf(path))];
    if (
      parents.every((at) => isDirectory(tree.get(at)) || later.has(at)) &&
      parents.some((at) => known.touched.has(at))
    ) {
      later.set(path, entry);
    }
  }
  return later;
}

/** The sandbox, after its changes were committed, has what it had, and may show what came later. */
export function checkCommitted(seen: Tree, tree: Tree, later: Tree): void {
  const expected = new Map(tree);
  for (const [path, entry] of later) if (seen.get(path) === entry) expected.set(path, entry);
  requireSame('after the commit', seen, expected);
}

/** ListChanges and the difference of the two trees are the same, but for what came later. */
export function checkChanges(known: Judged, tree: Tree, base: Tree, changes: readonly FileChange[]): void {
  const expected = new Map<string, string>();
  for (const path of difference(tree, base)) {
    const [is, was] = [tree.get(path), base.get(path)];
    expected.set(path, was === undefined ? 'CHANGE_ADDED' : is === undefined ? 'CHANGE_DELETED' : 'CHANGE_MODIFIED');
  }
  const listed = new Map(changes.map(({ path, kind }) => [path, kind]));
  for (const path of cameLater(known, tree, base, changes).keys()) expected.delete(path);
  for (const path of expected.keys()) {
    if (!listed.has(path) && movesHidden(known, path, tree, base)) expected.delete(path);
  }
  requireSame('ListChanges', listed, expected);
  for (const { path, kind, conflict, content_changed } of changes) {
    if (kind === 'CHANGE_MODIFIED') {
      const [is, was] = [tree.get(path)!, base.get(path)!];
      const sameThere = isFile(is)
        ? isFile(was) && contentOf(is) === contentOf(was)
        : isDirectory(is) && isDirectory(was);
      if (content_changed === sameThere) fail(`ListChanges: content_changed of ${path} is ${content_changed}`);
    }
    const foreign = [...known.foreign].some((each) => isAtOrBelow(each, path) || isAtOrBelow(path, each));
    if (conflict && !foreign) fail(`ListChanges: a conflict at ${path}, which nobody else changed`);
    if (kind !== 'CHANGE_DELETED') continue;
    const removed = [...upwards(path)].some((at) => known.removed.has(at));
    const replaced = [...upwards(parentOf(path))].some((at) => tree.has(at) && !isDirectory(tree.get(at)));
    if (!removed && !replaced) fail(`ListChanges: a deletion of ${path}, which the sandbox never removed`);
  }
}

/**
 * It goes or moves with a directory that the sandbox renamed, removed or has something else in the place of, and the
 * sandbox may not read it, here or in the codebase.
 */
function movesHidden(known: Judged, path: string, tree: Tree, base: Tree): boolean {
  const replaced = [...upwards(parentOf(path))].some((at) => tree.has(at) && !isDirectory(tree.get(at)));
  if (!replaced && ![...upwards(path)].some((at) => known.removed.has(at))) return false;
  const entry = tree.get(path);
  const unreadable = (at: string) => levelAt(known.rules, at).level < READ;
  if (entry === undefined) return unreadable(path);
  return [...base].some(
    ([origin, other]) => nameOf(origin) === nameOf(path) && other === entry && (unreadable(path) || unreadable(origin)),
  );
}

/** What programs and the agent are shown, of what is there. */
export function checkShown(known: Judged, seen: Tree, tree: Tree, base: Tree): void {
  const origins = new Map<string, string[]>();
  for (const [path, entry] of base) {
    if (isFile(entry)) origins.set(contentOf(entry), [...(origins.get(contentOf(entry)) ?? []), path]);
  }
  for (const [path, entry] of seen) {
    const { level, passThrough } = levelAt(known.rules, path);
    if (level < VIEW && !(entry === 'd' && passThrough)) fail(`a hidden name is shown: ${path}`);
    const there = tree.get(path);
    if (there === undefined || there[0] !== (entry === UNREADABLE ? 'f' : entry[0])) {
      fail(`${shown(entry)} is shown at ${path}, where the sandbox has ${shown(there)}`);
    }
    if (isDirectory(there)) continue;
    const readable = entry !== UNREADABLE && entry !== 'l x';
    if (readable && level < READ) fail(`a hidden content is shown: ${path}`);
    if (isSymlink(there)) {
      if (readable && entry !== there) fail(`another target is shown at ${path}`);
      continue;
    }
    const content = contentOf(there);
    if (readable && entry.slice(2) !== content)
      fail(`another content is shown at ${path}: ${shown(entry)} for ${shown(there)}`);
    if (content.length < 4 || known.own.has(content)) continue;
    const levels = (origins.get(content) ?? []).map((origin) => levelAt(known.rules, origin).level);
    const most = Math.max(0, ...levels);
    if (most < (readable ? READ : VIEW)) {
      fail(`${path} shows ${readable ? 'a content' : 'a name'} that is hidden at ${origins.get(content) ?? 'no path'}`);
    }
  }
  for (const [path, entry] of tree) {
    if (isDirectory(entry) || seen.has(path) || levelAt(known.rules, path).level < VIEW) continue;
    const touched = [...upwards(path)].some((at) => known.touched.has(at));
    if (!touched && base.get(path) === entry) fail(`${path} is not shown`);
  }
}

/** Own contents that a rollback brings back. */
export function checkRolledBack(tree: Tree, then: Tree, baseThen: Tree, base: Tree): void {
  if (same(baseThen, base)) {
    requireSame('after the rollback', tree, then);
    return;
  }
  const ofBase = new Set([...baseThen.values()]);
  for (const [path, entry] of then) {
    if (!isFile(entry) || ofBase.has(entry) || baseThen.get(path) === entry) continue;
    if (tree.get(path) !== entry)
      fail(`after the rollback ${path} is ${shown(tree.get(path))} instead of ${shown(entry)}`);
  }
}
