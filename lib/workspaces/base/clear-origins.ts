import { type ByteString, parentOf } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { MERGES, OPAQUE, type Op } from '../delta/index/records.ts';
import { isBelow } from '../history/renamed-directories.ts';
import { detachBelow } from '../history/show-base.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { OwnDirectory } from '../workspaces.ts';

/** Names examined in one step. */
const ITEMS_PER_STEP = 16;

/**
 * Clears the origin of renamed directories (`renamed`: directories with an origin) whose base directory is at or below
 * one of `removed`. Whatever is created at that base path later is another directory, so a renamed directory must not
 * show it. From then on they are like directories that the sandbox made.
 */
export function* clearOrigins(
  workspace: LayeredWorkspace,
  removed: readonly ByteString[],
  renamed: readonly OwnDirectory[],
): Steps<void> {
  const paths = new Set(removed);
  const { delta, tree, shared } = workspace;
  const ended = renamed.filter(({ origin }) => isAtOrBelow(origin!, paths));
  if (ended.length === 0) return;
  const keptPaths = new Set(renamed.filter(({ origin }) => !isAtOrBelow(origin!, paths)).map(({ path }) => path));
  yield* delta.committing(
    // In a directory that keeps its origin the name would resolve to the same base path again.
    ended.map(({ id, path, replaces }): Op => ['origin', id, replaces || isBelow(path, keptPaths) ? OPAQUE : MERGES]),
    true,
  );
  const counter = new StepCounter(ITEMS_PER_STEP);
  for (const { id } of ended) {
    if (counter.count()) yield;
    const inode = delta.table.get(id);
    const node = inode && tree.nodeOf(inode);
    if (node === undefined) continue;
    for (const [name, child] of node.children ?? []) {
      if (child.inode !== undefined) continue;
      yield* detachBelow(workspace, child);
      tree.detach(child, node, name);
      shared.notifier.invalEntry(node.id, name);
      if (counter.count()) yield;
    }
    tree.binding.unmerge(node);
    shared.notifier.invalInode(node.id);
  }
}

function isAtOrBelow(path: ByteString, paths: ReadonlySet<ByteString>): boolean {
  for (let at = path; at !== ''; at = parentOf(at)) if (paths.has(at)) return true;
  return false;
}
