import { type ByteString, baseNameOf, joinPath, parentOf } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { isDirectory } from '../../linux/mode.ts';
import { isRedactedLevel } from '../../permissions/index.ts';
import type { BaseStat } from '../base/base.ts';
import { hasLaterEntries } from '../base/later-entries.ts';
import { identityOf } from '../delta/index/base-versions.ts';
import { directoryIn } from '../delta/index/directory-in.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import type { Op } from '../delta/index/records.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import { PathMemo } from '../nodes/path-memo.ts';
import { isCommittedText } from '../redacted/committed-text.ts';
import type { RebasedPath, RebaseStage } from '../workspaces.ts';
import { hidingRemoved } from './hide-removed.ts';
import { knownAt } from './known-versions.ts';
import { mergedAt, showsBase } from './merged-at.ts';
import { committedDirectories, type MovedDirectories, movedDirectories } from './moved-directories.ts';
import { isBelow } from './renamed-directories.ts';
import { isBaseAt, sameMode } from './same-as-base.ts';

const NONE: ReadonlySet<ByteString> = new Set();
/** Names examined in one step. */
const ITEMS_PER_STEP = 16;

interface Place {
  dir: Inode;
  dirPath: ByteString;
  name: ByteString;
}

/** The journal operations that rebase one stage of a commit, collected path by path. Parents come before their contents. */
export class RebaseOps {
  readonly list: Op[];
  /** Where the sandbox may show the base from now on: its nodes are to be updated. */
  readonly shown: (Place & { base: BaseStat | undefined })[] = [];
  /** The present entries of the base at all paths of `shown`. */
  readonly bases = new Map<ByteString, BaseStat | undefined>();
  /** Inodes that lose a name. */
  readonly released: Inode[] = [];
  readonly #workspace: LayeredWorkspace;
  readonly #root: Inode;
  readonly #resumed: boolean;
  readonly #later: ReadonlySet<ByteString>;
  readonly #directories: PathMemo<Inode | undefined>;
  /** New origins of directories, which are not in the table yet. */
  readonly #origins = new Map<Inode, ByteString>();
  readonly #inPlace = new Map<ByteString, boolean>();
  #moved: MovedDirectories = new Map();
  /** The old paths of renamed directories that are committed. */
  readonly #left: ByteString[] = [];
  /** Paths that lose a whiteout with their directory. */
  readonly #dropped = new Set<ByteString>();
  /** Paths that get a whiteout. */
  readonly #hidden = new Set<ByteString>();

  /** `later`: see `RebaseStage`. */
  constructor(
    workspace: LayeredWorkspace,
    root: Inode,
    { commit, stage, resumed }: RebaseStage,
    later: ReadonlySet<ByteString>,
  ) {
    this.#later = later;
    this.#workspace = workspace;
    this.#root = root;
    this.#resumed = resumed;
    this.#directories = new PathMemo<Inode | undefined>(root, directoryIn);
    this.list = [['rebased', commit, stage]];
  }

  readonly #originOf = (dir: Inode) => this.#origins.get(dir) ?? dir.origin;

  /** Directories that were renamed since the commit show the base as it was committed. */
  *addMoved(stage: RebaseStage): Steps<void> {
    const committed = yield* committedDirectories(this.#workspace, stage);
    for (const [origin, path] of committed.renamed) if (origin !== path) this.#left.push(origin);
    this.#moved = yield* movedDirectories(this.#workspace, stage, committed);
    for (const moved of this.#moved.values()) {
      for (const { dir, path, committedAt } of moved) {
        yield;
        if (committedAt === undefined) continue;
        this.list.push(['origin', dir.id, committedAt]);
        this.#origins.set(dir, committedAt);
        this.shown.push({ ...this.#placeOf(path)!, base: undefined });
      }
    }
  }

  *add(rebased: RebasedPath): Steps<void> {
    const { path, version } = rebased;
    if (version === undefined && rebased.removed === undefined && this.#later.has(path)) return;
    const base = this.#workspace.base.lstat(path);
    if (base !== undefined) this.#hideInMoved(rebased, base);
    const place = this.#placeOf(path);
    if (place === undefined) {
      // Its directory shows the base, as before at another path; or the sandbox has moved it since.
      this.#forgetVersion(path);
      if (base !== undefined && !this.#isShown(path)) this.#recordVersion(path, base);
      return;
    }
    const entry = place.dir.requireEntries().get(place.name);
    this.shown.push({ ...place, base });
    this.bases.set(path, base);
    if (base !== undefined && isDirectory(base.mode)) yield* this.#addDirectory(place, rebased, base, entry);
    // Otherwise a directory that the commit skipped, because the base has a file at its path.
    else if (base === undefined || !isCommittedDirectory(entry, version))
      yield* this.#addFile(place, rebased, base, entry);
  }

  /** A path at which the base has a directory. */
  *#addDirectory(
    { dir, dirPath, name }: Place,
    rebased: RebasedPath,
    base: BaseStat,
    entry: Inode | typeof WHITEOUT | undefined,
  ): Steps<void> {
    const { path, version, removed, made } = rebased;
    let isKnown = this.#forgetVersion(path) || made === true;
    if (isCommittedDirectory(entry, version)) {
      if (!made && entry.origin === undefined)
        for (const op of yield* hidingRemoved(this.#workspace, entry, path)) this.list.push(op);
      yield* this.#dropWhiteouts(entry, path);
      this.list.push(['origin', entry.id, path]);
      this.#origins.set(entry, path);
    } else if (entry === WHITEOUT && removed && this.#isInPlace(dirPath)) {
      // The directory could not be removed from the base: it has other entries.
      this.list.push(['drop', dir.id, name]);
    } else if (entry === undefined && this.#isRemoved(rebased, base, dir)) {
      this.#hide({ dir, dirPath, name }, path);
      isKnown = true;
    }
    // Otherwise the directory was removed or changed since, or it is below one that was removed and made again, where a
    // later removal leaves no record but this version. No version is recorded either if an earlier stage found the base with the
    // entry's mode: that the base has another mode now tells that the entry's is a change.
    if (entry !== undefined && entry !== WHITEOUT && entry.mode !== base.mode)
      isKnown ||= this.#isMergedAt(entry, rebased);
    if (isKnown && !this.#showsDirectory(entry, rebased, base)) this.#recordVersion(path, base);
  }

  /**
   * Called for a directory that shows the base's at its path from now on. Names that were removed from what it showed before
   * are none that the base gets later, or got meanwhile.
   */
  *#dropWhiteouts(dir: Inode, path: ByteString): Steps<void> {
    const counter = new StepCounter(ITEMS_PER_STEP);
    const wasElsewhere = dir.origin !== undefined && dir.origin !== path;
    for (const [name, entry] of dir.requireEntries().found()) {
      if (counter.count()) yield;
      const at = joinPath(path, name);
      if (entry !== WHITEOUT) continue;
      const base = this.#workspace.base.lstat(at);
      if (base !== undefined) {
        if (!wasElsewhere || !(yield* hasLaterEntries(this.#workspace, NONE, at, base))) continue;
        this.shown.push({ dir, dirPath: path, name, base });
      }
      this.list.push(['drop', dir.id, name]);
      this.#dropped.add(at);
    }
  }

  /** Call after all paths. See `knownAt`. */
  *addKnown(): Steps<void> {
    const { bases } = this;
    const known = yield* knownAt(this.#left, {
      base: this.#workspace.base,
      root: this.#root,
      has: (path) => bases.has(path),
      isInPlace: (path) => this.#isInPlace(path),
      isShown: (path) => this.#isShown(path),
    });
    const { baseVersions } = this.#workspace.delta.table;
    for (const [path, base] of known) {
      yield;
      if (baseVersions.get(path) === undefined) this.#recordVersion(path, base);
    }
  }

  #showsDirectory(entry: Inode | typeof WHITEOUT | undefined, rebased: RebasedPath, base: BaseStat): boolean {
    const { path, removed } = rebased;
    if (entry === undefined) return !this.#hidden.has(path) && this.#isShown(path);
    return entry === WHITEOUT ? removed === true : this.#isMerged(entry, rebased, base);
  }

  /** A path at which the base has a file or a symlink, or nothing. */
  *#addFile(
    { dir, dirPath, name }: Place,
    rebased: RebasedPath,
    base: BaseStat | undefined,
    entry: Inode | typeof WHITEOUT | undefined,
  ): Steps<void> {
    const { path, version } = rebased;
    let asCommitted = entry === WHITEOUT && base === undefined;
    if (entry !== WHITEOUT && entry !== undefined && base !== undefined) {
      asCommitted = this.#resumed
        ? yield* isAsCommitted(this.#workspace, path, entry, base)
        : version?.[0] === entry.id && version[1] === entry.writes;
    }
    this.#forgetVersion(path);
    if (asCommitted && this.#isInPlace(dirPath)) {
      if (!this.#dropped.has(path)) this.list.push(['drop', dir.id, name]);
      if (entry !== WHITEOUT && entry !== undefined) this.released.push(entry);
      return;
    }
    const isGone = base !== undefined && entry === undefined && this.#isRemoved(rebased, base, dir);
    if (base === undefined || (!isGone && version === undefined && this.#isShown(path))) return;
    this.#recordVersion(path, base);
    if (isGone) this.#hide({ dir, dirPath, name }, path);
  }

  /**
   * Whether a directory without an entry of its own was removed since the commit. What the sandbox showed below a renamed
   * directory had none before.
   */
  #isRemoved({ path, version, made }: RebasedPath, base: BaseStat, dir: Inode): boolean {
    if (version === undefined) return made === true && !this.#origins.has(dir);
    return made === true || !isDirectory(base.mode) || !this.#wasShown(path);
  }

  /** Removed since the commit: only now the base has it, so it needs a whiteout, unless its directory does not show the base's. */
  #hide({ dir, dirPath, name }: Place, path: ByteString): void {
    if (!this.#isInPlace(dirPath)) return;
    this.list.push(['hide', dir.id, name]);
    this.#hidden.add(path);
  }

  /** Whether a directory shows the base's at its path. Call when those above have their origins. */
  #isInPlace(dirPath: ByteString): boolean {
    let known = this.#inPlace.get(dirPath);
    if (known === undefined) {
      known = mergedAt(this.#root, dirPath, this.#originOf) === dirPath;
      this.#inPlace.set(dirPath, known);
    }
    return known;
  }

  /** As `#hide`, in directories that show the base's at another path. */
  #hideInMoved(rebased: RebasedPath, base: BaseStat): void {
    const { path } = rebased;
    const name = baseNameOf(path);
    for (const { dir, path: dirPath } of this.#moved.get(parentOf(path)) ?? []) {
      if (dir.requireEntries().has(name) || !this.#isRemoved(rebased, base, dir)) continue;
      this.list.push(['hide', dir.id, name]);
      this.shown.push({ dir, dirPath, name, base: undefined });
    }
  }

  /** Returns false if no base version is recorded for the path. */
  #forgetVersion(path: ByteString): boolean {
    if (this.#workspace.delta.table.baseVersions.get(path) === undefined) return false;
    this.list.push(['unseen', path]);
    return true;
  }

  #recordVersion(path: ByteString, base: BaseStat): void {
    this.list.push(['seen', path, ...identityOf(base)]);
  }

  #isShown(path: ByteString): boolean {
    return !isBelow(path, this.#hidden) && showsBase(this.#root, path, this.#originOf);
  }

  /** Whether the entry shows what the directory of the base has, and is no change of that. */
  #isMerged(entry: Inode, rebased: RebasedPath, base: BaseStat): boolean {
    return entry.mode === base.mode && this.#isMergedAt(entry, rebased);
  }

  #isMergedAt(entry: Inode, { path, version }: RebasedPath): boolean {
    return isCommittedDirectory(entry, version) || mergedAt(this.#root, path, this.#originOf) === path;
  }

  /** As `#isShown`, before this rebase. */
  #wasShown(path: ByteString): boolean {
    return showsBase(this.#root, path, ({ origin }) => origin);
  }

  #placeOf(path: ByteString): Place | undefined {
    const dirPath = parentOf(path);
    const dir = this.#directories.at(dirPath);
    return dir && { dir, dirPath, name: baseNameOf(path) };
  }
}

function* isAsCommitted(workspace: LayeredWorkspace, path: ByteString, entry: Inode, base: BaseStat): Steps<boolean> {
  const rule = workspace.stateOf(path);
  if (!entry.isAgentText || !isRedactedLevel(rule.level)) return yield* isBaseAt(workspace, path, entry, base);
  return sameMode(entry.mode, base.mode) && (yield* isCommittedText(workspace, path, rule, entry, base));
}

function isCommittedDirectory(
  entry: Inode | typeof WHITEOUT | undefined,
  version: RebasedPath['version'],
): entry is Inode {
  return entry !== undefined && entry !== WHITEOUT && entry.isDirectory && entry.id === version?.[0];
}
