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
import type { Settlement } from '../workspaces.ts';
import { isAsInBase } from './changes.ts';
import { isBelow } from './renamed-directories.ts';
import { revert } from './revert.ts';
import { showBase } from './show-base.ts';
import { dropUnused } from './unused-directories.ts';

interface Place {
  dir: Inode;
  dirPath: ByteString;
  name: ByteString;
}

/**
 * After the base took over what the sandbox had at `settled`: the delta lets go of each path that it still has as it
 * was committed, journaled as one. What was changed since stays, as a change of the version that is the base's now.
 */
export function* settle(workspace: Workspace, settlement: Settlement): Steps<void> {
  const { delta } = workspace;
  if (delta.table.get(ROOT_ID) === undefined) return;
  const { commit, stage, givenUp, resumed } = settlement;
  const { rebased } = delta.table;
  if (resumed && rebased?.commit === commit && rebased.stage >= stage) return;
  for (const path of givenUp) yield* giveUp(workspace, path);
  yield* delta.releasing(settleAll(workspace, settlement));
  const paths = [...settlement.settled.map(({ path }) => path), ...givenUp];
  yield* dropUnused(workspace, paths, 'always');
}

/** What lies in a directory that went has gone with it. */
function* giveUp(workspace: Workspace, path: ByteString): Steps<void> {
  try {
    yield* revert(workspace, [path]);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
  }
}

function* settleAll(workspace: Workspace, { commit, stage, settled, resumed }: Settlement): Steps<void> {
  const { table } = workspace.delta;
  const root = table.get(ROOT_ID)!;
  const ops: Op[] = [['rebased', commit, stage]];
  const origins = new Map<Inode, ByteString>();
  const hidden = new Set<ByteString>();
  const isShown = (path: ByteString) =>
    !isBelow(path, hidden) && showsBase(root, path, (dir) => origins.get(dir) ?? dir.origin);
  const free: Inode[] = [];
  const directories = new PathMemo<Inode | undefined>(root, directoryIn);
  const shown: (Place & { base: BaseStat | undefined })[] = [];
  // Parents before what is in them: a directory shows the base's before its names do.
  for (const { path, version, removed, made } of settled) {
    yield;
    const place = placeOf(directories, path);
    const base = workspace.base.lstat(path);
    const seen = table.baseVersions.get(path) !== undefined;
    if (place === undefined) {
      // Its directory shows the base, as it did elsewhere; or it was moved since, which is the sandbox's own work.
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
        // Removed, or given another mode, since.
        const kept = entry === undefined || (entry === WHITEOUT ? removed : entry.mode === base.mode);
        if (!kept) ops.push(['seen', path, ...identityOf(base)]);
      }
      if (entry !== undefined && entry !== WHITEOUT && entry.isDirectory && entry.id === version?.[0]) {
        ops.push(['origin', entry.id, path]);
        origins.set(entry, path);
      } else if (entry === WHITEOUT && removed) {
        // It could not go: something in it stayed.
        ops.push(['drop', dir.id, name]);
      } else if (entry === undefined && made) {
        // Removed since, as below.
        ops.push(['seen', path, ...identityOf(base)], ['hide', dir.id, name]);
        hidden.add(path);
      }
      continue;
    }
    // A directory that was left out of the commit: a file of the base is in the way.
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
      if (entry !== WHITEOUT && entry !== undefined) free.push(entry);
      continue;
    }
    if (seen) ops.push(['unseen', path]);
    if (base === undefined || (version === undefined && isShown(path))) continue;
    ops.push(['seen', path, ...identityOf(base)]);
    // Removed since: the base has it only now, so nothing hides it yet.
    if (entry === undefined && version !== undefined) ops.push(['hide', dir.id, name]);
  }
  yield* workspace.delta.committing(ops, true);
  yield* forgetShown(workspace, root);
  // A directory is shown as it is to be before what is in it is asked for.
  const nodes = new PathMemo<Node | undefined>(workspace.tree.root, (above, name) => above?.children?.get(name));
  // A directory that shows the base again has brought what is in it.
  const done = new Set<Node>();
  for (const { dirPath, name, base } of shown) {
    yield;
    const node = nodes.at(dirPath);
    if (node === undefined) continue;
    if (node.inode?.origin !== undefined) workspace.tree.changeOrigin(node, node.inode.origin);
    const entry = node.inode?.entries?.get(name);
    if (entry === undefined) {
      const child = node.children?.get(name);
      if (child !== undefined && done.has(child)) continue;
      yield* showBase(workspace, node, name, node.basePath === dirPath ? { stat: base } : undefined, done);
    } else if (entry !== WHITEOUT && entry.origin !== undefined) yield* rebase(workspace, node, name, entry, done);
  }
  for (const inode of free) {
    if (inode.names === 0 && !workspace.tree.hasNode(inode)) workspace.delta.release(inode);
    yield;
  }
}

/** Where the sandbox shows the base again, what it took up before counts no more: the next change starts from the base. */
function* forgetShown({ delta }: Workspace, root: Inode): Steps<void> {
  const ops: Op[] = [];
  for (const [path] of delta.table.baseVersions.entries()) {
    yield;
    if (showsBase(root, path, ({ origin }) => origin)) ops.push(['unseen', path]);
  }
  if (ops.length > 0) yield* delta.committing(ops, true);
}

/** Whether the sandbox has nothing of its own at the path, nor on the way, and sees what the base has there. */
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

/** A changed directory that stays, merged with the base at its own path from now on. */
function* rebase(workspace: Workspace, dir: Node, name: ByteString, inode: Inode, done: Set<Node>): Steps<void> {
  const node = dir.children?.get(name);
  if (node === undefined) return;
  const isMerged = node.basePath === inode.origin;
  const base = workspace.base.lstat(inode.origin!);
  if (base !== undefined) workspace.tree.mergeWith(node, inode.origin!, base);
  node.listing = undefined;
  workspace.shared.notifier.invalInode(node.id);
  const children = [...(node.children?.keys() ?? [])];
  for (const below of children) {
    yield;
    // What showed the base in this directory before does so now.
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
