import { type ByteString, splitPath } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { Postponed } from '../../fuse/filesystem.ts';
import { READ, WRITE } from '../../permissions/index.ts';
import { AGENT } from '../access/access.ts';
import { isVisible } from '../access/visibility.ts';
import { clearOrigins } from '../base/clear-origins.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { LayeredNode } from '../nodes/layered-node.ts';
import type { OwnDirectory } from '../workspaces.ts';
import { Change } from './change.ts';
import { pathsByOrigin, renamedDirectories, shownAt } from './renamed-directories.ts';

/**
 * Called before the base loses `paths`: copies up what directories that the sandbox renamed show of them, since nobody
 * removed it there. A directory among them is no longer shown there. Returns whether there is a renamed directory at
 * all. Each file is preserved independently: throws the first error (quota, full disk) after all were tried. Throws
 * Postponed while a large file is copied.
 */
export function* preserveRemoved(workspace: LayeredWorkspace, paths: readonly ByteString[]): Steps<boolean> {
  let renamed = yield* withOrigin(workspace);
  const byOrigin = pathsByOrigin(renamed);
  let failure: { error: unknown } | undefined;
  for (const removed of byOrigin.size === 0 ? [] : paths) {
    yield;
    for (const path of shownAt(removed, byOrigin)) {
      try {
        preserve(workspace, path, removed);
      } catch (error) {
        if (error instanceof Postponed) throw error;
        failure ??= { error };
      }
    }
  }
  // Directories were copied up with the files in them; each has an origin of its own now.
  if (renamed.length > 0) renamed = yield* withOrigin(workspace);
  yield* clearOrigins(workspace, paths, renamed);
  if (failure !== undefined) throw failure.error;
  return renamed.length > 0;
}

/**
 * As `preserveRemoved`, if a directory of the base was moved since the base lost files last: that may have been after
 * `preserveRemoved`.
 */
export function* preserveMoved(workspace: LayeredWorkspace, paths: readonly ByteString[]): Steps<void> {
  if (!workspace.isOpen || !workspace.hasMovedOfBase) return;
  yield* preserveRemoved(workspace, paths);
  workspace.hasMovedOfBase = false;
}

function* withOrigin(workspace: LayeredWorkspace): Steps<OwnDirectory[]> {
  return (yield* renamedDirectories(workspace)).filter(({ origin }) => origin !== undefined);
}

function preserve(workspace: LayeredWorkspace, path: ByteString, removed: ByteString): void {
  const { tree } = workspace;
  const node = nodeAt(workspace, path);
  if (node === undefined) return;
  try {
    if (node.inode === undefined && node.basePath === removed && mayPreserve(workspace, node, removed))
      Change.make(workspace, (change) => change.node(node));
  } finally {
    tree.free(node);
  }
}

/**
 * Whether the rules permit copying it up: an entry that they hide at its base path must not become visible under those
 * of its new path.
 */
function mayPreserve(workspace: LayeredWorkspace, node: LayeredNode, removed: ByteString): boolean {
  const state = workspace.stateOf(removed);
  return node.isDirectory ? isVisible(state, true) : state.level >= READ;
}

/** Returns the node of a path, regardless of rules. */
function nodeAt({ tree }: LayeredWorkspace, path: ByteString): LayeredNode | undefined {
  let node = tree.root;
  for (const name of splitPath(path)) {
    if (!node.isDirectory) return undefined;
    const state = node.agentRuleOf(name);
    const found = node.children?.get(name) === undefined ? tree.find(node, name, WRITE) : undefined;
    const child = node.children?.get(name) ?? (found && tree.adopt(AGENT, node, name, state, found));
    if (child === undefined) {
      tree.free(node);
      return undefined;
    }
    node = child;
  }
  return node;
}
