import { type ByteString, baseNameOf, joinPath, parentOf, ROOT_PATH, splitPath } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { isDirectory } from '../../linux/mode.ts';
import type { BaseStat } from '../base/base.ts';
import { identityOf } from '../delta/index/base-versions.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import type { Op } from '../delta/index/records.ts';
import { mergeNodes } from '../nodes/merge-nodes.ts';
import type { Node } from '../nodes/node.ts';
import { PathMemo } from '../nodes/path-memo.ts';
import type { Workspace } from '../workspace.ts';
import type { RebaseStage } from '../workspaces.ts';
import { isBelow } from './renamed-directories.ts';
import { revert } from './revert.ts';
import { isAsInBase } from './same-as-base.ts';
import { showBase } from './show-base.ts';
import { removeUnusedDirectories } from './unused-directories.ts';

interface Place {
  dir: Inode;
  dirPath: ByteString;
  name: ByteString;
}

/**
 * Rebases the delta after a stage of a commit: removes each entry that is still as committed, in one journal record.
 * What was changed since stays, as a change of the present base version. A resumed stage that was rebased before is
 * skipped.
 */
export function* rebase(workspace: Workspace, settlement: RebaseStage): Steps<void> {
  const { delta } = workspace;
  if (delta.table.get(ROOT_ID) === undefined) return;
  const { commit, stage, revertPaths: givenUp, resumed } = settlement;
  const { rebased } = delta.table;
  if (resumed && rebased?.commit === commit && rebased.stage >= stage) return;
  for (const path of givenUp) yield* revertQuietly(workspace, path);
  yield* delta.releasing(rebaseAll(workspace, settlement));
  const paths = [...settlement.paths.map(({ path }) => path), ...givenUp];
  yield* removeUnusedDirectories(workspace, paths, 'always');
}

/** Reverts one path. A path inside a directory that was reverted already is skipped. */
function* revertQuietly(workspace: Workspace, path: ByteString): Steps<void> {
  try {
    yield* revert(workspace, [path]);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
  }
}

function* rebaseAll(workspace: Workspace, { commit, stage, paths: settled, resumed }: RebaseStage): Steps<void> {
  const { table } = workspace.delta;
  const root = table.get(ROOT_ID)!;
  const ops: Op[] = [['rebased', commit, stage]];
  const origins = new Map<Inode, ByteString>();
  const hidden = new Set<ByteString>();
  const isShown = (path: ByteString) =>
    !isBelow(path, hidden) && showsBase(root, path, (dir) => origins.get(dir) ?? dir.origin);
  const released: Inode[] = [];
  const directories = new PathMemo<Inode | undefined>(root, directoryIn);
  const shown: (Place & { base: BaseStat | undefined })[] = [];
  // Parents come before their contents: a directory shows the base before its entries do.
  for (const { path, version, removed, made } of settled) {
    yield;
    const place = placeOf(directories, path);
    const base = workspace.base.lstat(path);
    const seen = table.baseVersions.get(path) !== undefined;
    if (place === undefined) {
      // Its directory shows the base, as before at another path; or the sandbox has moved it since.
      if (seen) ops.push(['unseen', path]);
      if (base !== undefined && !isShown(path)) ops.push(['seen', path, ...identityOf(base)]);
      continue;
    }
    const { dir, name } = place;
    const entry = dir.entries!.get(name);
    shown.push({ ...place, base });
    if (base !== undefined && isDirectory(base.mode)) {
      if (seen) {
        ops.push(['unseen', path]);
        // Removed, or given another mode, since the commit.
        const kept = entry === undefined || (entry === WHITEOUT ? removed : entry.mode === base.mode);
        if (!kept) ops.push(['seen', path, ...identityOf(base)]);
      }
      if (entry !== undefined && entry !== WHITEOUT && entry.isDirectory && entry.id === version?.[0]) {
        ops.push(['origin', entry.id, path]);
        origins.set(entry, path);
      } else if (entry === WHITEOUT && removed) {
        // The directory could not be removed from the base: it has other entries.
        ops.push(['drop', dir.id, name]);
      } else if (entry === undefined && made) {
        // Removed since the commit, as below.
        ops.push(['seen', path, ...identityOf(base)], ['hide', dir.id, name]);
        hidden.add(path);
      }
      continue;
    }
    // A directory that the commit skipped, because the base has a file at its path.
    if (
      base !== undefined &&
      entry !== undefined &&
      entry !== WHITEOUT &&
      entry.isDirectory &&
      entry.id === version?.[0]
    )
      continue;
    const isCommitted = (inode: Inode, now: BaseStat) =>
      resumed ? isAsInBase(workspace, path, inode, now) : version?.[0] === inode.id && version[1] === inode.writes;
    const asCommitted =
      entry === WHITEOUT ? base === undefined : entry !== undefined && base !== undefined && isCommitted(entry, base);
    if (asCommitted) {
      if (seen) ops.push(['unseen', path]);
      ops.push(['drop', dir.id, name]);
      if (entry !== WHITEOUT && entry !== undefined) released.push(entry);
      continue;
    }
    if (seen) ops.push(['unseen', path]);
    if (base === undefined || (version === undefined && isShown(path))) continue;
    ops.push(['seen', path, ...identityOf(base)]);
    // Removed since the commit: only now the base has it, so it needs a whiteout.
    if (entry === undefined && version !== undefined) ops.push(['hide', dir.id, name]);
  }
  yield* workspace.delta.committing(ops, true);
  yield* removeShownVersions(workspace, root);
  // A directory is updated before its entries.
  const nodes = new PathMemo<Node | undefined>(workspace.tree.root, (above, name) => above?.children?.get(name));
  // Nodes that were updated with their directory.
  const done = new Set<Node>();
  for (const { dirPath, name, base } of shown) {
    yield;
    const node = nodes.at(dirPath);
    if (node === undefined) continue;
    if (node.inode?.origin !== undefined) workspace.tree.binding.changeOrigin(node, node.inode.origin);
    const entry = node.inode?.entries?.get(name);
    if (entry === undefined) {
      const child = node.children?.get(name);
      if (child !== undefined && done.has(child)) continue;
      yield* showBase(workspace, node, name, node.basePath === dirPath ? { stat: base } : undefined, done);
    } else if (entry !== WHITEOUT && entry.origin !== undefined)
      yield* remergeDirectory(workspace, node, name, entry, done);
  }
  for (const inode of released) {
    if (inode.names === 0 && !workspace.tree.hasNode(inode)) workspace.delta.release(inode);
    yield;
  }
}

/**
 * Removes the recorded base versions of paths at which the sandbox shows the base again: the next change starts from
 * the present base.
 */
function* removeShownVersions({ delta }: Workspace, root: Inode): Steps<void> {
  const ops: Op[] = [];
  for (const [path] of delta.table.baseVersions.entries()) {
    yield;
    if (showsBase(root, path, ({ origin }) => origin)) ops.push(['unseen', path]);
  }
  if (ops.length > 0) yield* delta.committing(ops, true);
}

/** Whether the sandbox has no entry of its own at the path or above, and sees the base there. */
function showsBase(root: Inode, path: ByteString, originOf: (dir: Inode) => ByteString | undefined): boolean {
  let dir = root;
  let dirPath = ROOT_PATH;
  let merged: ByteString | undefined = ROOT_PATH;
  for (const name of splitPath(path)) {
    const entry = dir.entries!.get(name);
    if (entry === undefined) return merged === dirPath;
    if (entry === WHITEOUT || !entry.isDirectory) return false;
    dir = entry;
    dirPath = joinPath(dirPath, name);
    const above: ByteString | undefined = merged;
    merged = originOf(entry) ?? (entry.merges && above !== undefined ? joinPath(above, name) : undefined);
  }
  return false;
}

/** Updates the node of a changed directory that remains, merged with the base at its own path from now on. */
function* remergeDirectory(
  workspace: Workspace,
  dir: Node,
  name: ByteString,
  inode: Inode,
  done: Set<Node>,
): Steps<void> {
  const node = dir.children?.get(name);
  if (node === undefined) return;
  const isMerged = node.basePath === inode.origin;
  const base = workspace.base.lstat(inode.origin!);
  if (base !== undefined) workspace.tree.binding.mergeWith(node, inode.origin!, base);
  node.listing = undefined;
  workspace.shared.notifier.invalInode(node.id);
  const children = [...(node.children?.keys() ?? [])];
  for (const below of children) {
    yield;
    // Entries that showed the base in this directory still do.
    const isShown = isMerged && node.children!.get(below)?.inode === undefined;
    if (!isShown && !inode.entries!.has(below)) yield* showBase(workspace, node, below, undefined, done);
  }
  yield* mergeNodes(workspace, node, children);
}

function placeOf(directories: PathMemo<Inode | undefined>, path: ByteString): Place | undefined {
  const dirPath = parentOf(path);
  const dir = directories.at(dirPath);
  return dir && { dir, dirPath, name: baseNameOf(path) };
}

function directoryIn(above: Inode | undefined, name: ByteString): Inode | undefined {
  const entry = above?.entries?.get(name);
  return entry === undefined || entry === WHITEOUT || !entry.isDirectory ? undefined : entry;
}
