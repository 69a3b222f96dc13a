import { type ByteString, baseNameOf, joinPath, parentOf, ROOT_PATH, splitPath } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { isDirectory } from '../../linux/mode.ts';
import { isRedactedLevel } from '../../permissions/index.ts';
import type { BaseStat } from '../base/base.ts';
import { identityOf } from '../delta/index/base-versions.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import type { Op } from '../delta/index/records.ts';
import { PathMemo } from '../nodes/path-memo.ts';
import { isCommittedText } from '../redacted/committed-text.ts';
import type { Workspace } from '../workspace.ts';
import type { RebasedPath, RebaseStage } from '../workspaces.ts';
import { isBelow } from './renamed-directories.ts';
import { isBaseAt, sameMode } from './same-as-base.ts';

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
  readonly #workspace: Workspace;
  readonly #root: Inode;
  readonly #resumed: boolean;
  readonly #directories: PathMemo<Inode | undefined>;
  /** New origins of directories, which are not in the table yet. */
  readonly #origins = new Map<Inode, ByteString>();
  /** Paths that get a whiteout. */
  readonly #hidden = new Set<ByteString>();

  constructor(workspace: Workspace, root: Inode, { commit, stage, resumed }: RebaseStage) {
    this.#workspace = workspace;
    this.#root = root;
    this.#resumed = resumed;
    this.#directories = new PathMemo<Inode | undefined>(root, directoryIn);
    this.list = [['rebased', commit, stage]];
  }

  *add(rebased: RebasedPath): Steps<void> {
    const { path, version } = rebased;
    const base = this.#workspace.base.lstat(path);
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
    if (base !== undefined && isDirectory(base.mode)) this.#addDirectory(place, rebased, base, entry);
    // Otherwise a directory that the commit skipped, because the base has a file at its path.
    else if (base === undefined || !isCommittedDirectory(entry, version))
      yield* this.#addFile(place, rebased, base, entry);
  }

  /** A path at which the base has a directory. */
  #addDirectory(
    { dir, name }: Place,
    rebased: RebasedPath,
    base: BaseStat,
    entry: Inode | typeof WHITEOUT | undefined,
  ): void {
    const { path, version, removed, made } = rebased;
    if (this.#forgetVersion(path)) {
      // Kept: the sandbox shows what the commit stored. Otherwise the directory was removed or changed since, or it is below one
      // that was removed and made again, where a later removal leaves no record but this version.
      const isKept =
        entry === undefined ? this.#isShown(path) : entry === WHITEOUT ? removed : this.#isMerged(entry, rebased, base);
      if (!isKept) this.#recordVersion(path, base);
    }
    const isOther = entry === WHITEOUT || entry?.isDirectory === false;
    if (isCommittedDirectory(entry, version)) {
      this.list.push(['origin', entry.id, path]);
      this.#origins.set(entry, path);
    } else if (entry === WHITEOUT && removed) {
      // The directory could not be removed from the base: it has other entries.
      this.list.push(['drop', dir.id, name]);
    } else if (entry === undefined && (made || (version !== undefined && !this.#wasShown(path)))) {
      // Removed since the commit, as below.
      this.#recordVersion(path, base);
      this.list.push(['hide', dir.id, name]);
      this.#hidden.add(path);
    } else if (isOther && made) {
      // Replaced by a file since the commit, which may be removed by now: a change of the directory in the base.
      this.#recordVersion(path, base);
    }
  }

  /** A path at which the base has a file or a symlink, or nothing. */
  *#addFile(
    { dir, name }: Place,
    { path, version }: RebasedPath,
    base: BaseStat | undefined,
    entry: Inode | typeof WHITEOUT | undefined,
  ): Steps<void> {
    let asCommitted = entry === WHITEOUT && base === undefined;
    if (entry !== WHITEOUT && entry !== undefined && base !== undefined) {
      asCommitted = this.#resumed
        ? yield* isAsCommitted(this.#workspace, path, entry, base)
        : version?.[0] === entry.id && version[1] === entry.writes;
    }
    this.#forgetVersion(path);
    if (asCommitted) {
      this.list.push(['drop', dir.id, name]);
      if (entry !== WHITEOUT && entry !== undefined) this.released.push(entry);
      return;
    }
    if (base === undefined || (version === undefined && this.#isShown(path))) return;
    this.#recordVersion(path, base);
    // Removed since the commit: only now the base has it, so it needs a whiteout.
    if (entry === undefined && version !== undefined) this.list.push(['hide', dir.id, name]);
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
    return !isBelow(path, this.#hidden) && showsBase(this.#root, path, (dir) => this.#origins.get(dir) ?? dir.origin);
  }

  /** Whether the entry shows what the directory of the base has, and is no change of that. */
  #isMerged(entry: Inode, { path, version }: RebasedPath, base: BaseStat): boolean {
    const originOf = (dir: Inode) => this.#origins.get(dir) ?? dir.origin;
    const isMerged = isCommittedDirectory(entry, version) || mergedAt(this.#root, path, originOf) === path;
    return isMerged && entry.mode === base.mode;
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

function* isAsCommitted(workspace: Workspace, path: ByteString, entry: Inode, base: BaseStat): Steps<boolean> {
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

/** Whether the sandbox has no entry of its own at the path or above, and sees the base there. */
export function showsBase(root: Inode, path: ByteString, originOf: (dir: Inode) => ByteString | undefined): boolean {
  let dir = root;
  let dirPath = ROOT_PATH;
  let merged: ByteString | undefined = ROOT_PATH;
  for (const name of splitPath(path)) {
    const entry = dir.requireEntries().get(name);
    if (entry === undefined) return merged === dirPath;
    if (entry === WHITEOUT || !entry.isDirectory) return false;
    dir = entry;
    dirPath = joinPath(dirPath, name);
    merged = mergedBelow(merged, name, entry, originOf);
  }
  return false;
}

/** The base path that the sandbox's own directory at a path is merged with; undefined: none, or it has no directory there. */
function mergedAt(
  root: Inode,
  path: ByteString,
  originOf: (dir: Inode) => ByteString | undefined,
): ByteString | undefined {
  let dir = root;
  let merged: ByteString | undefined = ROOT_PATH;
  for (const name of splitPath(path)) {
    const entry = dir.requireEntries().get(name);
    if (entry === undefined || entry === WHITEOUT || !entry.isDirectory) return undefined;
    dir = entry;
    merged = mergedBelow(merged, name, entry, originOf);
  }
  return merged;
}

/** The base path that a directory is merged with, in one that is merged with `above`. */
function mergedBelow(
  above: ByteString | undefined,
  name: ByteString,
  dir: Inode,
  originOf: (dir: Inode) => ByteString | undefined,
): ByteString | undefined {
  return originOf(dir) ?? (dir.merges && above !== undefined ? joinPath(above, name) : undefined);
}

function directoryIn(above: Inode | undefined, name: ByteString): Inode | undefined {
  const entry = above?.entries?.get(name);
  return entry === undefined || entry === WHITEOUT || !entry.isDirectory ? undefined : entry;
}
