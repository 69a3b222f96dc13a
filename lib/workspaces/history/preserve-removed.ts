import { type ByteString, splitPath } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { Postponed } from '../../fuse/filesystem.ts';
import { READ, WRITE } from '../../permissions/index.ts';
import { AGENT } from '../access/access.ts';
import { isVisible } from '../access/visibility.ts';
import { clearOrigins } from '../base/clear-origins.ts';
import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';
import { Change } from './change.ts';
import { pathsByOrigin, renamedDirectories, shownAt } from './renamed-directories.ts';

/**
 * Before the base loses `paths`: what a directory that the sandbox renamed shows of them becomes the sandbox's own, for it
 * has them elsewhere, and nobody took them away there. A directory among them is shown there no more. Answers whether
 * there is a renamed directory at all. Each file is kept or lost by itself (a quota, a full disk): throws what went wrong
 * first, after trying all. May throw Postponed.
 */
export function* keepRemoved(workspace: Workspace, paths: readonly ByteString[]): Steps<boolean> {
  const renamed = (yield* renamedDirectories(workspace)).filter(({ origin }) => origin !== undefined);
  const byOrigin = pathsByOrigin(renamed);
  let failure: { error: unknown } | undefined;
  for (const removed of byOrigin.size === 0 ? [] : paths) {
    yield;
    for (const path of shownAt(removed, byOrigin)) {
      try {
        keep(workspace, path, removed);
      } catch (error) {
        if (error instanceof Postponed) throw error;
        failure ??= { error };
      }
    }
  }
  yield* clearOrigins(workspace, paths, renamed);
  if (failure !== undefined) throw failure.error;
  return renamed.length > 0;
}

function keep(workspace: Workspace, path: ByteString, removed: ByteString): void {
  const { tree } = workspace;
  const node = nodeAt(workspace, path);
  if (node === undefined) return;
  try {
    if (node.inode === undefined && node.basePath === removed && mayKeep(workspace, node, removed))
      Change.make(workspace, (change) => change.node(node));
  } finally {
    tree.free(node);
  }
}

/** What the rules hide where the base has it would be the sandbox's own, under the rules of where it is now. */
function mayKeep(workspace: Workspace, node: Node, removed: ByteString): boolean {
  const state = workspace.stateOf(removed);
  return node.isDirectory ? isVisible(state, true) : state.level >= READ;
}

/** The node of a path, whatever the rules say. */
function nodeAt({ tree }: Workspace, path: ByteString): Node | undefined {
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
