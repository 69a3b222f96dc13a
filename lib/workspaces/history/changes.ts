import { type ByteString, joinPath, NO_BYTES, ROOT_PATH, sliceOf, splitPath, toText } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { isDirectory } from '../../linux/mode.ts';
import { MAX_NAME_BYTES, MAX_PATH_BYTES } from '../../path-limits.ts';
import { type Level, MERGED, READ, type RuleState, strictest, WRITE } from '../../permissions/index.ts';
import { LinkLevels } from '../access/link-levels.ts';
import type { BaseStat } from '../base/base.ts';
import { hasLaterEntries } from '../base/later-entries.ts';
import { identityOf, sameIdentity } from '../delta/index/base-versions.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { ChangePage, ChangeSelection, WorkspaceChange } from '../workspaces.ts';
import { allNames, baseNames, changedNames, keysAfter } from './changed-names.ts';
import { Choice, type Examined } from './choice.ts';
import { oneSided } from './compare.ts';
import { modeOf, type Present, presentAt } from './present.ts';
import { compareAt } from './redacted-texts.ts';
import { isBelow, renamedDirectories } from './renamed-directories.ts';
import { isScratch, type Parent } from './scratch-changes.ts';
import { TakenContents } from './taken-contents.ts';

/** Changes per partial result, which the other thread reads in a moment. */
const PAGE = 256;
/** The bytes of contents in one of them, about. */
const PAGE_BYTES = 1 << 20;

/** The changes that a caller asks for. */
export interface Asked {
  selection: ChangeSelection;
  /** Those at and above the chosen paths that are left out are listed, too, with the reason in `left`. */
  withLeft: boolean;
  /** The contents of small files are taken along, as far as there is room. */
  withContents?: boolean;
  /** Everything is paused: what programs wrote to pages since is not part of the state, and cannot be waited for. */
  isPaused?: boolean;
  /** The last partial result has the sandbox's own directories in the same state. */
  withOwn?: boolean;
}

/**
 * Lists at most `limit` changes after the path `after`, in steps; each full page is a partial result. Without `asked` all
 * of them. Throws host errors, INVALID_ARGUMENT naming `exclude`, and FAILED_PRECONDITION for paths that are too long to
 * list.
 */
export function* changePages(
  workspace: LayeredWorkspace,
  after: ByteString,
  limit: number,
  asked?: Asked,
): Generator<ChangePage | undefined, ChangePage, void> {
  if (asked?.withOwn) workspace.hasMoved = false;
  const end = asked?.withOwn ? { own: yield* renamedDirectories(workspace, undefined, true) } : {};
  let changes: WorkspaceChange[] = [];
  let count = 0;
  let bytes = 0;
  for (const change of changesOf(workspace, after, asked)) {
    if (change !== undefined) {
      if (count++ === limit) return { changes, more: true, ...end };
      changes.push(change);
      bytes += change.contents?.length ?? 0;
    }
    if (changes.length < PAGE && bytes < PAGE_BYTES) yield;
    else {
      yield { changes, more: true };
      changes = [];
      bytes = 0;
    }
  }
  return { changes, more: false, ...end };
}

/**
 * All paths at which the sandbox differs from the codebase, in byte order, after `after`. Entries that were changed
 * back are not listed. The cost depends on the size of the delta, not of the codebase. undefined: one more entry was
 * examined.
 */
export function* changesOf(
  workspace: LayeredWorkspace,
  after: ByteString,
  asked?: Asked,
): Generator<WorkspaceChange | undefined> {
  const root = workspace.delta.table.get(ROOT_ID);
  if (root !== undefined) yield* changesBelow(workspace, ROOT_PATH, root, ROOT_PATH, after, asked);
}

/**
 * As `changesOf`, below one directory of the delta that the base has, too; `basePath` is the base directory that it
 * shows.
 */
export function* changesBelow(
  workspace: LayeredWorkspace,
  path: ByteString,
  inode: Inode,
  basePath: ByteString | undefined,
  after: ByteString,
  asked?: Asked,
): Generator<WorkspaceChange | undefined> {
  const now = { inode, base: undefined, basePath };
  const choice = asked && (yield* Choice.making(asked.selection, workspace.rules));
  const omits = asked !== undefined && !asked.withLeft;
  const taken = asked?.withContents ? new TakenContents(workspace) : undefined;
  const walk: Walk = { workspace, choice, omits, taken, origins: undefined, links: undefined };
  const { excluded } = choice ?? {};
  // The tree can be deeper than the stack, so there is no recursion.
  const rule = workspace.stateOf(path);
  const gone = { hidesKnown: false, goneAsScratch: false, asScratch: false };
  const stack = [open(walk, { path, now, wasDirectory: true, ...gone, rule, excluded }, after)];
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const { done, value } = frame.entries.next();
    if (done) stack.pop();
    else if (value === undefined || 'kind' in value) yield value;
    else stack.push(open(walk, value.dir, value.after));
  }
}

interface Walk {
  workspace: LayeredWorkspace;
  choice: Choice | undefined;
  /** What is left out is not listed. */
  omits: boolean;
  taken: TakenContents | undefined;
  /** The result of `originsOf`. */
  origins: ReadonlySet<ByteString> | undefined;
  links: LinkLevels | undefined;
}

/** The base paths of directories that the sandbox renamed. */
function* originsOf(walk: Walk): Steps<ReadonlySet<ByteString>, undefined> {
  walk.origins ??= new Set((yield* renamedDirectories(walk.workspace)).flatMap(({ origin }) => origin ?? []));
  return walk.origins;
}

/** A path that is a directory now, or was one in the base. */
interface Compared extends Parent {
  wasDirectory: boolean;
  /**
   * It is absent because a directory was created above: only the base entries that the sandbox knew count as removed.
   */
  hidesKnown: boolean;
  /** See `isMatched`. */
  excluded: RuleState | undefined;
}

/** A directory to examine, from the path `after` on. */
interface Descent {
  dir: Compared;
  after: ByteString;
}

function open(walk: Walk, dir: Compared, after: ByteString): { entries: ReturnType<typeof below> } {
  if (dir.path.length > MAX_PATH_BYTES + MAX_NAME_BYTES) throw tooDeep(dir.path);
  return { entries: below(walk, dir, after) };
}

/** Created by an older version of the service, which had no limit. Listing below such a path has no bound. */
function tooDeep(path: ByteString): ServiceError {
  const top = JSON.stringify(toText(splitPath(path)[0]!));
  return new ServiceError(
    'FAILED_PRECONDITION',
    `the sandbox has a path of more than ${MAX_PATH_BYTES} bytes below ${top}: remove it or discard the changes there`,
  );
}

/** The changes in a directory and, at their positions, its subdirectories. */
function* below(walk: Walk, dir: Compared, after: ByteString): Generator<WorkspaceChange | Descent | undefined> {
  const { workspace } = walk;
  const own = dir.now && inPlace(dir.now, dir.path, dir.wasDirectory);
  // A new directory in place of the base's hides entries that were added later, and does not remove them.
  const hidesKnown = dir.now === undefined ? dir.hidesKnown : dir.wasDirectory && !own;
  const names = own ? yield* changedNames(dir.now!) : yield* allNames(workspace.base, dir);
  const base = yield* baseNames(workspace.base, dir, names.length);
  const mayDescend = (name: ByteString) => isDirectoryNow(dir, name) || base.mayBeDirectory(name);
  // The last name that was examined, if it is a directory neither now nor in the base.
  let plain: ByteString | undefined;
  for (const key of yield* keysAfter(names, after, mayDescend)) {
    const descend = key.endsWith('/');
    const name = descend ? sliceOf(key, 0, -1) : key;
    if (descend && name === plain) continue;
    const path = joinPath(dir.path, name);
    if (walk.choice?.concerns(path) === false) {
      yield;
      continue;
    }
    const now = dir.now && presentAt(workspace, dir.now, name);
    const rule = dir.rule.child(name);
    const bytes = descend ? undefined : walk.taken?.ifAsLarge(path, now, rule);
    const sameBytes = bytes && base.isSame(name, bytes);
    const was = base.stat(name);
    const excluded = dir.excluded?.child(name);
    const scratch = workspace.rules.hasScratch && isScratch(workspace, dir, own === true, { path, now, was, rule });
    if (!descend) {
      plain = isDirectorySide(now && modeOf(now)) || isDirectorySide(was?.mode) ? undefined : name;
      const examined = { path, now, was, rule, excluded, scratch };
      let left = walk.choice?.leftOut(examined);
      if (left === 'unsure') left = yield* walk.choice!.leftOfNew(examined);
      if (left !== undefined && walk.omits) {
        yield;
        continue;
      }
      const mayBeLater = now === undefined && was !== undefined && hidesKnown;
      if (mayBeLater && (yield* hasLaterEntries(workspace, yield* originsOf(walk), path, was))) continue;
      const both = now !== undefined && was !== undefined;
      const change = both
        ? yield* compareAt(workspace, path, rule, now, was, sameBytes)
        : oneSided(workspace, path, now, was);
      if (change !== undefined) {
        change.conflict = conflictAt(walk, path, now, was) ?? !isBelow(path, yield* originsOf(walk));
        rate(walk, dir, { change, name, now, rule }, hasLinks(now) ? yield* levelOfLinks(walk, now.inode) : WRITE);
        if (scratch) change.scratch = scratch;
        if (left !== undefined) change.left = left;
        else walk.taken?.addTo(change, now, bytes);
      }
      yield change;
      continue;
    }
    const child = childOf(walk, { path, now, was, rule, excluded, scratch });
    if (child === undefined) continue;
    const rest = after.startsWith(key) ? sliceOf(after, key.length) : NO_BYTES;
    yield { dir: { ...child, hidesKnown: hidesKnown && now === undefined }, after: rest };
  }
}

/** The directory that a path is or was; undefined: none, or none whose contents are asked for. */
function childOf(
  { choice, omits }: Walk,
  { path, now, was, rule, excluded, scratch }: Examined,
): Omit<Compared, 'hidesKnown'> | undefined {
  const nowDirectory = isDirectorySide(now && modeOf(now));
  const wasDirectory = isDirectorySide(was?.mode);
  if (!nowDirectory && !wasDirectory) return undefined;
  if (choice?.mayHaveBelow(path, omits ? excluded : undefined) === false) return undefined;
  const goneAsScratch = scratch && !nowDirectory;
  return { path, now: nowDirectory ? now : undefined, wasDirectory, goneAsScratch, asScratch: scratch, rule, excluded };
}

const isDirectorySide = (mode: number | undefined) => mode !== undefined && isDirectory(mode);

interface Unrated {
  change: WorkspaceChange;
  name: ByteString;
  now: Present | undefined;
  rule: RuleState;
}

/**
 * Sets what the rules permit for a change. Base entries shown at another path, and their absence at their base path, follow
 * from renaming a directory: they count as changes only as far as the sandbox may see them.
 */
function rate({ workspace }: Walk, dir: Compared, { change, name, now, rule }: Unrated, ofLinks: Level): void {
  const elsewhere =
    now !== undefined && now.inode === undefined && now.basePath !== undefined && now.basePath !== change.path;
  const level = elsewhere ? strictest(rule.level, workspace.stateOf(now.basePath!).level) : rule.level;
  const follows = elsewhere || (now === undefined && dir.now?.inode?.entries?.has(name) !== true);
  change.level = strictest(level, ofLinks);
  change.writable = level === WRITE || (level === MERGED && !elsewhere);
  if (follows && level < READ) change.hidden = true;
}

function hasLinks(now: Present | undefined): now is Present & { inode: Inode } {
  const inode = now?.inode;
  return inode !== undefined && !inode.isDirectory && inode.linkCount > 1;
}

/** The strictest level of all links of a file. */
function* levelOfLinks(walk: Walk, inode: Inode): Steps<Level, undefined> {
  walk.links ??= new LinkLevels(walk.workspace.rules);
  return yield* walk.links.find(inode);
}

function isDirectoryNow({ now }: Compared, name: ByteString): boolean {
  const entry = now?.inode?.entries?.get(name);
  if (entry === WHITEOUT) return false;
  // A base entry at another path: the caller checks.
  return entry === undefined ? now?.basePath !== undefined : entry.isDirectory;
}

/** Whether unchanged names are the codebase's own at this path. */
function inPlace(dir: Present, path: ByteString, wasDirectory: boolean): boolean {
  return wasDirectory && dir.basePath === path;
}

/**
 * Whether the base has another version than the one that the sandbox changed. undefined: unless it was moved with its
 * directory; then the sandbox shows the present base entry at another path.
 */
function conflictAt(
  { workspace }: Walk,
  path: ByteString,
  now: Present | undefined,
  was: BaseStat | undefined,
): boolean | undefined {
  const seen = workspace.delta.table.baseVersions.get(path);
  if (was === undefined) return seen !== undefined;
  if (seen !== undefined) return !sameIdentity(seen, identityOf(was));
  // Directories that both created are merged.
  return isDirectory(was.mode) && now !== undefined && isDirectory(modeOf(now)) ? false : undefined;
}
