import { type ByteString, joinPath } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { baseChanged } from '../base/base-changes.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import type { Op } from '../delta/index/records.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { LayeredNode } from '../nodes/layered-node.ts';
import { mergeNodes } from '../nodes/merge-nodes.ts';
import { PathMemo } from '../nodes/path-memo.ts';
import type { RebaseStage } from '../workspaces.ts';
import { showsBase } from './merged-at.ts';
import { RebaseOps } from './rebase-ops.ts';
import { revert } from './revert.ts';
import { showBase } from './show-base.ts';
import { removeUnusedDirectories } from './unused-directories.ts';

/**
 * Rebases the delta after a stage of a commit: removes each entry that is still as committed, in one journal record.
 * What was changed since stays, as a change of the present base version. A resumed stage that was rebased before is
 * skipped.
 */
export function* rebase(workspace: LayeredWorkspace, request: RebaseStage): Steps<void> {
  const { withheld } = workspace.base;
  const added: ByteString[] = [];
  for (const { path } of request.paths) {
    if (withheld.delete(path)) added.push(path);
    yield;
  }
  try {
    yield* rebaseTo(workspace, request, added);
    withheld.isCommitting = false;
    workspace.awaitsRebase = false;
  } catch (error) {
    // Not after a resumed rebase, which may never be repeated.
    if (request.resumed) withheld.isCommitting = false;
    for (const path of request.resumed ? [] : added) {
      withheld.add(path);
      yield;
    }
    throw error;
  }
}

/** `added`: paths that the base has for this workspace from now on. */
function* rebaseTo(workspace: LayeredWorkspace, request: RebaseStage, added: readonly ByteString[]): Steps<void> {
  const { delta } = workspace;
  if (delta.table.get(ROOT_ID) === undefined) return;
  const { commit, stage, revertPaths, resumed } = request;
  const { rebased } = delta.table;
  if (resumed && rebased?.commit === commit && rebased.stage >= stage) return;
  for (const path of revertPaths) yield* revertQuietly(workspace, path);
  const later = new Set(request.later);
  yield* delta.releasing(rebaseAll(workspace, request, added, later));
  const paths = [...request.paths.map(({ path }) => path), ...revertPaths];
  yield* removeUnusedDirectories(workspace, paths, 'always', later);
}

/** Reverts one path. A path inside a directory that was reverted already is skipped. */
function* revertQuietly(workspace: LayeredWorkspace, path: ByteString): Steps<void> {
  try {
    yield* revert(workspace, [path]);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
  }
}

function* rebaseAll(
  workspace: LayeredWorkspace,
  stage: RebaseStage,
  added: readonly ByteString[],
  later: ReadonlySet<ByteString>,
): Steps<void> {
  const root = workspace.delta.table.require(ROOT_ID);
  const ops = new RebaseOps(workspace, root, stage, later);
  yield* ops.addMoved(stage);
  for (const path of stage.paths) {
    yield;
    yield* ops.add(path);
  }
  yield* ops.addKnown();
  yield* workspace.delta.committing(ops.list, true);
  yield* removeShownVersions(workspace, root);
  yield* updateNodes(workspace, ops);
  const elsewhere: ByteString[] = [];
  for (const path of added) {
    if (!ops.bases.has(path)) elsewhere.push(path);
    yield;
  }
  yield* baseChanged(workspace, { paths: elsewhere, kept: new Set() }, false);
  for (const inode of ops.released) {
    if (inode.names === 0 && !workspace.tree.hasNode(inode)) workspace.delta.release(inode);
    yield;
  }
}

/** Updates the nodes at these places. A directory is updated before its entries. */
function* updateNodes(workspace: LayeredWorkspace, { shown, bases }: RebaseOps): Steps<void> {
  const nodes = new PathMemo<LayeredNode | undefined>(workspace.tree.root, (above, name) => above?.children?.get(name));
  // Nodes that were updated with their directory.
  const done = new Set<LayeredNode>();
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
    } else if (entry === WHITEOUT) {
      // A program may have looked the name up while the base had it already.
      yield* showBase(workspace, node, name, { stat: undefined }, done);
    } else if (entry.origin !== undefined) yield* remergeDirectory(workspace, node, name, entry, { done, bases });
    else yield* mergeNodes(workspace, node, [name]);
  }
}

/**
 * Removes the recorded base versions of paths at which the sandbox shows the base again: the next change starts from
 * the present base.
 */
function* removeShownVersions({ delta }: LayeredWorkspace, root: Inode): Steps<void> {
  const ops: Op[] = [];
  for (const [path] of delta.table.baseVersions.entries()) {
    yield;
    if (showsBase(root, path, ({ origin }) => origin)) ops.push(['unseen', path]);
  }
  if (ops.length > 0) yield* delta.committing(ops, true);
}

/** Updates the node of a changed directory that remains, merged with the base at its own path from now on. */
function* remergeDirectory(
  workspace: LayeredWorkspace,
  dir: LayeredNode,
  name: ByteString,
  inode: Inode,
  { done, bases }: { done: Set<LayeredNode>; bases: RebaseOps['bases'] },
): Steps<void> {
  const node = dir.children?.get(name);
  if (node === undefined) return;
  const isMerged = node.basePath === inode.origin;
  const base = workspace.base.lstat(inode.origin!);
  if (base !== undefined) workspace.tree.binding.mergeWith(node, inode.origin!, base);
  node.outdateListing();
  workspace.shared.notifier.invalInode(node.id);
  const children = [...(node.children?.keys() ?? [])];
  for (const below of children) {
    yield;
    // Entries that showed the base in this directory still do.
    const isShown = isMerged && node.children!.get(below)?.inode === undefined;
    if (isShown || inode.requireEntries().has(below)) continue;
    const path = node.basePath === undefined ? undefined : joinPath(node.basePath, below);
    const known = path !== undefined && bases.has(path) ? { stat: bases.get(path) } : undefined;
    yield* showBase(workspace, node, below, known, done);
  }
  yield* mergeNodes(workspace, node, children);
}
