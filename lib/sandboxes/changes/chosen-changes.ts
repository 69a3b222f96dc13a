import { withBreaks } from '../../breaks.ts';
import { type ByteString, joinPath, parentOf, quote, ROOT_PATH, sliceOf, splitPath } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import { filtered, forEach } from '../../long-lists.ts';
import { isMatched, type RuleState } from '../../permissions/index.ts';
import { directoriesAbove, Subtrees } from '../../subtrees.ts';
import type { ChangeSelection, OwnDirectory, WorkspaceChange } from '../../workspaces/workspaces.ts';
import { topOf } from './new-directories.ts';
import { settledDirectories } from './settled-directories.ts';
import { typeOf } from './shown-change.ts';

/**
 * Returns the committable changes at and below `chosen` that the selection does not leave out. Throws for changes that the
 * rules forbid, and for a part of a change that must be committed as a whole: one end of a renamed directory, or an entry
 * of a directory without the file that the directory replaces. `excluded`: see `isMatched`.
 */
export async function chosenChanges(
  all: readonly WorkspaceChange[],
  chosen: readonly ByteString[],
  own: readonly OwnDirectory[],
  excluded?: RuleState,
): Promise<WorkspaceChange[]> {
  const subtrees = new Subtrees(chosen);
  const covered = {
    has: (path: ByteString) => subtrees.has(path) && !isMatched(excluded && stateAt(excluded, path)),
  };
  const isChosen = ({ path, left }: WorkspaceChange) => left === undefined && subtrees.has(path);
  const isPossible = ({ now }: WorkspaceChange) => now === undefined || typeOf(now) !== 'TYPE_OTHER';
  // Scratch is no change: it stays as what the sandbox writes during the commit.
  const left = await filtered(all, (change) => change.left !== 'scratch' && !isChosen(change));
  const possible = await withoutHolders(await filtered(all, (change) => isChosen(change) && isPossible(change)), left);
  refuseForbidden(await filtered(possible, ({ writable }) => !writable));
  await refuseInScratch(all, possible, own);
  if (left.length === 0) return possible;
  await refuseHalf({ possible, left, own, covered });
  await refuseWithoutRoom(possible, left);
  const aboveNew = await directoriesAbove(pathsOf(await filtered(possible, ({ now }) => now !== undefined)));
  refuseForbidden(await filtered(left, (change) => !change.writable && isMadeFor(change, aboveNew)));
  return possible;
}

const stateAt = (root: RuleState, path: ByteString): RuleState =>
  splitPath(path).reduce((state, name) => state.child(name), root);

const pathsOf = (changes: readonly WorkspaceChange[]): ByteString[] => changes.map(({ path }) => path);

/**
 * Without the removals of directories in which entries of the codebase stay. Throws for a file in the place of such a
 * directory.
 */
async function withoutHolders(
  possible: WorkspaceChange[],
  left: readonly WorkspaceChange[],
): Promise<WorkspaceChange[]> {
  const kept = await filtered(left, ({ base, now }) => base !== undefined && now === undefined);
  const staying = await directoriesAbove(pathsOf(kept));
  if (staying.size === 0) return possible;
  return filtered(possible, ({ path, now }) => {
    if (!staying.has(path)) return true;
    if (now !== undefined && typeOf(now) !== 'TYPE_DIRECTORY') {
      const why = `${quote(path)} takes the place of a directory with entries that are left out; leave it out, too`;
      throw new ServiceError('FAILED_PRECONDITION', `exclude: ${why}`);
    }
    return now !== undefined;
  });
}

interface Choice {
  possible: readonly WorkspaceChange[];
  left: readonly WorkspaceChange[];
  own: readonly OwnDirectory[];
  covered: Pick<Subtrees, 'has'>;
}

/** A renamed or replacing directory, its contents, and what it left at its old path are committed together. */
async function refuseHalf({ possible, left, own, covered }: Choice): Promise<void> {
  const moved = own.filter(({ origin, replaces }) => origin !== undefined || replaces);
  if (moved.length === 0) return;
  const paths = pathsOf(possible);
  const chosen = new Set(paths);
  const aboveChosen = await directoriesAbove(paths);
  const pathsInBase = pathsOf(await filtered(left, ({ base }) => base !== undefined));
  const inBase = new Set(pathsInBase);
  const aboveInBase = await directoriesAbove(pathsInBase);
  for (const { path, origin } of moved) {
    if (!covered.has(path)) {
      const atOrigin = origin !== undefined && (chosen.has(origin) || aboveChosen.has(origin));
      if (aboveChosen.has(path) || atOrigin) throw half(path);
    } else if (origin !== undefined && (inBase.has(origin) || aboveInBase.has(origin))) throw half(origin);
    else if (aboveInBase.has(path)) throw half(path);
  }
  const isCommitted = (path: ByteString) => chosen.has(path) || aboveChosen.has(path);
  await refuseHalfOfEqual(moved, isCommitted, { left, covered });
  const origins = new Map(moved.flatMap(({ path, origin }) => (origin === undefined ? [] : [[path, origin]])));
  const gone = new Set(pathsOf(await filtered(possible, ({ base }) => base !== undefined)));
  const settled = new Set([...(await withBreaks(settledDirectories(moved, isCommitted)))].map(({ path }) => path));
  const ownPaths = new Set(own.map(({ path }) => path));
  await forEach(left, ({ path, now }) => {
    const top = now && lowestOf(path, origins);
    if (top === undefined) return;
    // A directory that has an equal one at its old path shows an entry of that, which is not gone, but is shown no longer.
    const isShown = now!.version === undefined && !ownPaths.has(path);
    if (isShown && settled.has(top)) throw half(top);
    if (gone.has(joinPath(origins.get(top)!, sliceOf(path, top.length + 1)))) throw half(top);
  });
}

/**
 * Throws for a directory that took the place of an equal one and is committed nevertheless, because its old path has another
 * directory of this kind: nothing in it may be left out.
 */
async function refuseHalfOfEqual(
  moved: readonly OwnDirectory[],
  isCommitted: (path: ByteString) => boolean,
  { left, covered }: Pick<Choice, 'left' | 'covered'>,
): Promise<void> {
  const equal = [...(await withBreaks(settledDirectories(moved, isCommitted)))].filter(
    ({ path, origin }) => !isCommitted(path) && origin !== undefined && !isCommitted(origin),
  );
  if (equal.length === 0) return;
  const pathsLeft = pathsOf(left);
  const withLeft = new Set(pathsLeft);
  const aboveLeft = await directoriesAbove(pathsLeft);
  const halved = equal.find(({ path }) => !covered.has(path) || withLeft.has(path) || aboveLeft.has(path));
  if (halved !== undefined) throw half(halved.path);
}

/**
 * Throws for changes in a scratch directory that was renamed, or that replaces one: with them the codebase would have this
 * directory, and the sandbox would show the codebase's entries in it.
 */
async function refuseInScratch(
  all: readonly WorkspaceChange[],
  possible: readonly WorkspaceChange[],
  own: readonly OwnDirectory[],
): Promise<void> {
  const moved = own.filter(({ origin, replaces }) => origin !== undefined || replaces);
  if (moved.length === 0) return;
  const scratch = await filtered(all, ({ left }) => left === 'scratch');
  if (scratch.length === 0) return;
  const at = new Set(pathsOf(scratch));
  const aboveScratch = await directoriesAbove(pathsOf(await filtered(scratch, ({ base }) => base !== undefined)));
  const aboveChosen = await directoriesAbove(pathsOf(possible));
  for (const { path, replaces } of moved) {
    if (!aboveChosen.has(path) || !(at.has(path) || (replaces && aboveScratch.has(path)))) continue;
    const why = `${quote(path)} is a scratch directory that the sandbox renamed or replaced, with changes that are not scratch`;
    throw new ServiceError(
      'FAILED_PRECONDITION',
      `include_scratch: ${why}; commit it with include_scratch, or exclude it`,
    );
  }
}

/** The lowest of `tops` that contains the path. */
function lowestOf(path: ByteString, tops: ReadonlyMap<ByteString, unknown>): ByteString | undefined {
  for (let at = parentOf(path); at !== ROOT_PATH; at = parentOf(at)) if (tops.has(at)) return at;
  return undefined;
}

/** The directories that are not chosen, and that the codebase gets for what is committed in them. */
export async function madeFor(
  all: readonly WorkspaceChange[],
  committed: readonly WorkspaceChange[],
): Promise<ByteString[]> {
  if (all.length === committed.length) return [];
  const aboveNew = await directoriesAbove(pathsOf(await filtered(committed, ({ now }) => now !== undefined)));
  const chosen = new Set(pathsOf(committed));
  return pathsOf(await filtered(all, (change) => !chosen.has(change.path) && isMadeFor(change, aboveNew)));
}

/** The chosen directories that replace the codebase's, and in which nothing is left out: some have no change. */
export async function wholeReplacing(
  { paths, exclude }: ChangeSelection,
  all: readonly WorkspaceChange[],
  own: readonly OwnDirectory[],
): Promise<Set<ByteString>> {
  const subtrees = new Subtrees(paths);
  const isChosen = ({ path, origin, replaces }: OwnDirectory) => replaces && origin === undefined && subtrees.has(path);
  const replacing = exclude.length === 0 ? own.filter(isChosen) : [];
  if (replacing.length === 0) return new Set();
  const aboveLeft = await directoriesAbove(pathsOf(await filtered(all, ({ left }) => left !== undefined)));
  return new Set(replacing.map(({ path }) => path).filter((path) => !aboveLeft.has(path)));
}

/** Whether the change is a new directory that has a chosen change below it, and is therefore committed with that. */
function isMadeFor({ path, now, base }: WorkspaceChange, aboveNew: ReadonlySet<ByteString>): boolean {
  if (base !== undefined || now === undefined || typeOf(now) !== 'TYPE_DIRECTORY') return false;
  return aboveNew.has(path);
}

/** Throws PERMISSION_DENIED for changes that the rules forbid. The error has the number of hidden paths, not their names. */
function refuseForbidden(forbidden: readonly WorkspaceChange[]): void {
  if (forbidden.length === 0) return;
  const known = forbidden.find(({ hidden }) => hidden !== true);
  const what =
    known !== undefined
      ? `do not let it write ${quote(known.path)}`
      : `hide entries (${forbidden.length}) in directories that it renamed or removed: these cannot be committed`;
  throw new ServiceError('PERMISSION_DENIED', `the sandbox's rules ${what}`);
}

function half(path: ByteString): ServiceError {
  return new ServiceError(
    'FAILED_PRECONDITION',
    `paths: the sandbox renamed or replaced the directory ${quote(path)}; choose all of it`,
  );
}

/** An entry cannot be created in a file of the codebase, which stays a file while its own change is not chosen. */
async function refuseWithoutRoom(
  possible: readonly WorkspaceChange[],
  left: readonly WorkspaceChange[],
): Promise<void> {
  const files = await filtered(left, ({ base }) => base !== undefined && typeOf(base) !== 'TYPE_DIRECTORY');
  const inTheWay = new Set(files.map(({ path }) => path));
  await forEach(possible, ({ path, now }) => {
    const file = now && topOf(path, inTheWay);
    if (file === undefined) return;
    throw new ServiceError(
      'FAILED_PRECONDITION',
      `paths: ${quote(path)} is in a directory that takes the place of a file of the codebase; choose ${quote(file)}, too`,
    );
  });
}
