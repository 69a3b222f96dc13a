import { type Flat, isBelow, isDirectoryAt, isFileAt, orphan, parentsOf, pathsOf, show } from './flat.ts';

export interface FlatTrees {
  readonly b: Flat;
  readonly m: Flat;
  readonly h: Flat;
}

export function check(holds: boolean, what: () => string): void {
  if (!holds) throw new Error(what());
}

export function checkValid(flats: Record<string, Flat>): void {
  for (const [name, flat] of Object.entries(flats)) {
    const path = orphan(flat);
    check(path === undefined, () => `I1: ${name} has ${path} without its directory`);
  }
}

/** What `follow` made of `b` and `m`. */
export function checkFollowed({ b, m, h }: FlatTrees, now: { b: Flat; m: Flat }): void {
  checkValid(now);
  const all = pathsOf(b, m, h);
  const own = (path: string) => b.get(path) !== m.get(path);
  const owns = [...all].filter(own);
  const told = (what: string, path: string) => () =>
    `${what} at ${path}: b ${show(b)} | m ${show(m)} | h ${show(h)} -> b ${show(now.b)} | m ${show(now.m)}`;
  for (const path of all) {
    const [was, theirs, base] = [b.get(path), h.get(path), now.b.get(path)];
    if (own(path)) check(now.m.get(path) === m.get(path), told('I2: an own change is lost', path));
    check(base === theirs || base === was, told('I4: an invented base', path));
    const near =
      owns.some((each) => each === path || isBelow(each, path) || isBelow(path, each)) ||
      parentsOf(path).some((parent) => isFileAt(h, parent) && owns.some((each) => isBelow(parent, each)));
    if (!near) check(now.m.get(path) === theirs && base === theirs, told('I3: it does not follow', path));
    if (!own(path)) {
      // A directory that head removed stays for what the sandbox has made in it.
      const needed = theirs === undefined && isDirectoryAt(now.m, path);
      check(base === now.m.get(path) || needed, told('I2: a change that nobody made', path));
    } else if (was !== theirs && m.get(path) !== theirs && base === theirs) {
      const merged = !isDirectoryAt(b, path) && isDirectoryAt(m, path) && isDirectoryAt(h, path);
      check(merged, told('I5: a conflict is lost', path));
    }
    if (base === theirs) continue;
    check(near && was !== theirs, told('I5: a false conflict', path));
    if (!own(path) || m.get(path) !== theirs) continue;
    // Equal on both sides, but in a directory that is in conflict itself, or above a change.
    const inside = parentsOf(path).some((parent) => own(parent) || isFileAt(h, parent));
    check(inside || owns.some((each) => isBelow(path, each)), told('I6: equal on both sides is a conflict', path));
  }
}

export interface CommitCase {
  readonly before: FlatTrees;
  readonly after: FlatTrees;
  readonly chosen: (path: string) => boolean;
  readonly excluded: string | undefined;
  readonly onConflict: string;
  /** What the sandbox saw where it has changes. */
  readonly seen: ReadonlyMap<string, string | undefined>;
}

/** What `commit` made of the trees. */
export function checkCommitted(commit: CommitCase): void {
  const { before, after } = commit;
  checkValid({ b: after.b, m: after.m, h: after.h });
  for (const path of pathsOf(before.b, before.m, before.h, after.h)) {
    if (after.h.get(path) !== before.h.get(path)) checkHead(commit, path);
    checkMine(commit, path);
  }
}

function told({ before, after }: CommitCase, what: string, path: string): () => string {
  const text = ({ b, m, h }: FlatTrees) => `b ${show(b)} | m ${show(m)} | h ${show(h)}`;
  return () => `${what} at ${path}: ${text(before)} -> ${text(after)}`;
}

/** At a path at which head has changed. */
function checkHead(commit: CommitCase, path: string): void {
  const { before, after, chosen, onConflict, seen } = commit;
  const theirs = before.h.get(path);
  const made = theirs === undefined && isDirectoryAt(after.h, path) && isDirectoryAt(before.m, path);
  check(chosen(path) || made, told(commit, 'I9: head changed where nothing is chosen', path));
  if (!made || chosen(path))
    check(after.h.get(path) === before.m.get(path), told(commit, 'I9: head has not what the sandbox has', path));
  if (onConflict === 'ours' || (theirs === undefined && isDirectoryAt(after.h, path))) return;
  const known = seen.has(path) ? seen.get(path) : before.b.get(path);
  const merged = known === undefined && isDirectoryAt(before.h, path) && isDirectoryAt(after.h, path);
  check(theirs === known || merged, told(commit, `I8: overwritten, though the sandbox saw ${known}`, path));
  check(theirs === before.b.get(path), told(commit, 'I8: overwritten, though base is not head', path));
}

/** What the sandbox has, and whether it is a change. */
function checkMine(commit: CommitCase, path: string): void {
  const { before, after, chosen, excluded, onConflict } = commit;
  const was = before.b.get(path) !== before.m.get(path);
  const is = after.b.get(path) !== after.m.get(path);
  if (onConflict !== 'theirs') {
    if (was) check(after.m.get(path) === before.m.get(path), told(commit, 'I10: the sandbox lost its change', path));
    else check(!is || before.h.get(path) === undefined, told(commit, 'I10: a new change', path));
    if (was && !chosen(path)) {
      const agreed = before.h.get(path) === before.m.get(path);
      const made = after.h.get(path) !== before.h.get(path);
      check(is || made || agreed, told(commit, 'I10: a change that is not chosen has vanished', path));
    }
  }
  if (onConflict !== 'ours' || !chosen(path) || (excluded !== undefined && isBelow(path, excluded))) return;
  if (parentsOf(path).some((parent) => isFileAt(before.h, parent))) return;
  check(!is, told(commit, 'I11: still a change', path));
  check(after.h.get(path) === after.m.get(path) || !was, told(commit, 'I11: head has not ours', path));
}
